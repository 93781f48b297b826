import { callStateOf } from '../../core/calls.ts';
import { clipLine } from '../../core/clip.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';
import { type Line, lower, people, SENTENCE } from './answer-lines.ts';
import { REASONS } from './call-line.ts';
import { formatStanding } from './format-state.ts';

type Told = Pick<IncidentRecord, 'incident' | 'events'>;

/** Who has it and who gave it to them, who was called, or until when a call waits. */
export function callOf({ incident, events }: Told): readonly Line[] {
  if (incident.endedAt !== null) return [];
  const { acknowledged, called, waitsUntil } = callStateOf(events);
  if (acknowledged) {
    const { by, how, at, assignedBy } = acknowledged;
    const given: Line = assignedBy === undefined ? [] : [', given by ', whoOf(assignedBy)];
    return [[whoOf(by), how === 'acted' ? ' is at it since ' : ' has it since ', { at }, ...given, '.']];
  }
  if (called) return [['People were called at ', { at: called.at }, ', and nobody has it yet.']];
  return waitsUntil === null ? [] : [['Quiet hours: a call waits until ', { at: waitsUntil }, '.']];
}

/** Who has it, also after its end. */
export function calledOf({ incident, events }: Told): Line {
  return (
    callOf({ events, incident: { ...incident, endedAt: null } })[0] ?? [
      'Nobody: nobody has said that they have it, and nobody was called.',
    ]
  );
}

/** Who was called and why, the last call first. */
export function rungOf({ events }: Told): readonly Line[] {
  const calls = events.filter((event) => event.type === 'person.called').toReversed();
  if (calls.length === 0) return [['Nobody was called.']];
  return calls.map(({ at, mentions, groups = [], names, pagers, reason }): Line => {
    const who = [
      ...mentions.map((id) => (isSlackUser(id) ? { person: id } : 'the group on call')),
      ...[...groups.map((name) => `@${name}`), ...names].map((name) => clipLine(name, 40)),
    ].flatMap((each, n) => (n === 0 ? [each] : [', ', each]));
    const paged =
      pagers.length === 0
        ? ''
        : `${who.length > 0 ? ', and paged ' : ' paged '}${clipLine(pagers.join(', '), 80)}`;
    return [
      who.length > 0 ? 'Called ' : paged === '' ? 'Called nobody' : 'Called nobody in Slack,',
      ...who,
      `${paged} at `,
      { at },
      `: ${REASONS[reason]}.`,
    ];
  });
}

/** Who closed it, when and why; else how it stands. */
export function closingOf({ incident, events }: Told): Line {
  const closed = events.findLast((event) => event.type === 'incident.closed');
  if (incident.state !== 'resolved') return [`It is not closed: ${lower(formatStanding(incident))}.`];
  if (incident.resolvedBy !== 'person' || closed?.type !== 'incident.closed')
    return [`Nobody closed it: ${lower(formatStanding(incident))}.`];
  return [
    'Closed by ',
    ...people([closed.by]),
    ' at ',
    { at: closed.at },
    closed.reason === '' ? '.' : `: “${clipLine(closed.reason, SENTENCE)}”.`,
  ];
}

/** At a paging service people have names only. */
const whoOf = (by: string) => (isSlackUser(by) ? { person: by } : clipLine(by, 80));
