import { type Called } from '../../core/calls.ts';
import type { CallReason, IncidentEvent } from '../../core/event.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';

const types = [
  'person.called',
  'call.waits',
  'page.failed',
  'page.reassigned',
  'incident.acknowledged',
  'incident.released',
] as const;
type CallEvent = Extract<IncidentEvent, { type: (typeof types)[number] }>;

export const isCallEvent = (event: IncidentEvent): event is CallEvent =>
  (types as readonly string[]).includes(event.type);

/** What `why` says of calling people. */
export function callLine(event: CallEvent, moment: (iso: string) => string): string {
  switch (event.type) {
    case 'person.called':
      return calledLine(event);
    case 'call.waits':
      return `quiet hours: a call waits until ${moment(event.until)}`;
    case 'page.failed':
      return `no page by ${event.pager} (level ${event.level}): ${event.reason}`;
    case 'page.reassigned':
      return `given to ${event.to} at ${event.pager}${event.by === null ? '' : ` by ${event.by}`}`;
    case 'incident.acknowledged':
      return `${whoOf(event.by)} ${event.how === 'acted' ? 'is at it' : 'has it'}${event.pager === undefined ? '' : ` (answered at ${event.pager})`}${event.assignedBy === undefined ? '' : `, assigned by <@${event.assignedBy}>`}`;
    case 'incident.released':
      return `${whoOf(event.by)} gave it back`;
  }
}

export const REASONS: Readonly<Record<CallReason, string>> = {
  unsolved: 'I cannot fix it',
  unacknowledged: 'nobody had it',
  approval_expiry: 'the time to approve was running out',
  failed_verification: 'the fix did not work',
};

function calledLine({ mentions, names, groups = [], pagers, level, reason, problem }: Called): string {
  const called = [
    ...mentions.map((id) => (isSlackUser(id) ? `<@${id}>` : 'the group on call')),
    ...groups.map((name) => `@${plain(name)}`),
    ...names.map(plain),
  ];
  const more = called.length - NAMED;
  const who = [...called.slice(0, NAMED), ...(more > 0 ? [`and ${more} more`] : [])];
  const how = pagers.length > 0 ? [`paged ${pagers.join(', ')}`] : [];
  const told = [...(who.length > 0 ? [`called ${who.join(', ')}`] : []), ...how].join(', ');
  return `${told || 'called nobody'}${level > 1 ? ` (level ${level})` : ''}: ${REASONS[reason]}${problem === null ? '' : `. ${problem}`}`;
}

/** So many are named. */
const NAMED = 10;

/** A name is none of ours: it names nobody of Slack. */
const plain = (name: string): string => name.replaceAll(/[<>]/g, '');

/** At a paging service people have names only. */
const whoOf = (by: string): string => (isSlackUser(by) ? `<@${by}>` : plain(by));
