import { type Called, callStateOf } from '../../../core/calls.ts';
import { capitalised } from '../../../core/capitalised.ts';
import type { CallReason, IncidentEvent } from '../../../core/event.ts';
import { groupTitle } from '../../../core/group.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { isEnded } from '../../../core/machine.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  mentionsOf,
  moment,
  paragraph,
  person,
  prose,
  type Span,
  words,
} from './build.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { cut, escape, oneLine, sentence } from './text.ts';

type Escalated = Extract<IncidentEvent, { type: 'incident.escalated' }>;
/** Characters of a call as it is made; who has it and that it is over come on top. */
const LONGEST = 215;

type PageFailed = Extract<IncidentEvent, { type: 'page.failed' }>;

const heads: Readonly<Record<CallReason, { readonly says: string; readonly asks: string }>> = {
  unsolved: { says: 'I cannot fix this.', asks: 'it is yours.' },
  unacknowledged: { says: 'Nobody has this yet.', asks: 'please take it.' },
  approval_expiry: { says: 'A fix waits, and the time to approve it runs out.', asks: 'please decide.' },
  failed_verification: { says: 'The fix did not work.', asks: 'please look.' },
};

/** Why the incident needs a person, as it was escalated; empty where it was not since it began. */
function whyPerson({ events }: IncidentRecord, before: number): string {
  const last = events.findLast(
    (event) =>
      event.seq < before &&
      (event.type === 'incident.escalated' || (event.type === 'state.changed' && event.to === 'resolved')),
  );
  return last?.type === 'incident.escalated' ? sentence(last.reason, 70) : '';
}

/** Why it goes no further, where no call says it: nobody is called, or not yet. Once it stands, it stands. */
export function drawEscalation(
  record: IncidentRecord,
  event: Escalated,
  number: number,
  { calls }: Partial<DrawOptions>,
): Slot | null {
  const called = record.events.find(
    ({ seq, type }) => seq > event.seq && (type === 'person.called' || type === 'call.waits'),
  );
  const waits = called?.type === 'call.waits' ? called.until : null;
  if (waits === null && (calls === 'at_once' || (called && calls !== 'later'))) return null;
  const reason = sentence(event.reason || 'No reason was given', 130);
  const who =
    calls === 'later'
      ? [words('Somebody is called unless one of you has it.')]
      : [words('Nobody is set up to be called.')];
  return {
    slot: `escalation:${number}`,
    inThread: true,
    text: escape(oneLine(`${record.incident.id} needs a person: ${reason}`)),
    blocks: [
      prose(
        paragraph(
          bold('🚨 A person is needed. '),
          words(`${reason} `),
          ...(waits === null ? who : [words('Quiet hours: a call waits until '), moment(waits), words('.')]),
        ),
      ),
    ],
  };
}

/** Mentions who is on call, once: a new message, for edits ring nobody. What is edited in later is who has it. */
export function drawCall(record: IncidentRecord, event: Called, options: Partial<DrawOptions> = {}): Slot {
  const { incident } = record;
  const { says, asks } = heads[event.reason];
  const found = (event.groups ?? []).map((handle) => ({ handle, id: options.groupOf?.(handle) ?? null }));
  const ids = [...event.mentions, ...found.flatMap(({ id }) => id ?? [])];
  const who = mentionsOf(ids.filter((id) => /^[UWS][A-Z0-9]+$/.test(id)));
  const unknown = found.filter(({ id }) => id === null).map(({ handle }) => `@${handle}`);
  const names = cut([...event.names, ...unknown].map(oneLine).join(', '), 40);
  // Its last span is the space behind the last of them.
  const called = [
    ...(names === '' ? who.spans.slice(0, -1) : who.spans),
    ...(names === '' ? [] : [bold(names)]),
  ];
  const isUnheard = event.level > 1;
  // That nobody has it yet goes without saying then.
  const lead = [
    ...(isUnheard ? ['Nobody has answered.'] : []),
    ...(isUnheard && event.reason === 'unacknowledged' ? [] : [says]),
  ].join(' ');
  const reason =
    event.reason === 'unsolved' || event.reason === 'failed_verification' ? whyPerson(record, event.seq) : '';
  const what = `${incident.id} · ${incident.severity} · ${cut(oneLine(groupTitle(incident)), 150)}${incident.target === null ? '' : ` on ${cut(oneLine(incident.target), 60)}`}`;
  const head = `${lead} ${'@somebody '.repeat(ids.length)}${names}, ${asks}`;
  return {
    slot: `call:${event.seq}`,
    inThread: true,
    text: `${who.text}${escape(oneLine(`${names === '' ? '' : `${names}: `}${lead.replace(/\.$/, ':')} ${asks} ${reason === '' ? '' : `${reason} `}${what}`))}`,
    blocks: [
      prose(
        paragraph(bold(`${lead} `), ...called, words(called.length > 0 ? `, ${asks}` : capitalised(asks))),
        ...(reason === '' ? [] : [paragraph(words(reason))]),
        ...notes(event, LONGEST - head.length - reason.length).map((spans) => paragraph(...spans)),
      ),
      ...footOf(record, event, options),
    ],
  };
}

function notes({ pagers, problem }: Called, room: number): readonly (readonly Span[])[] {
  const paged = pagers.length > 0 ? `Also paged: ${cut(oneLine(pagers.join(', ')), 25)}.` : '';
  return [
    ...(paged === '' ? [] : [[words(paged)]]),
    ...(problem === null
      ? []
      : [[words(cut(oneLine(problem), Math.max(30, room - paged.length)), { italic: true })]]),
  ];
}

/** Who is at it or has it; and the buttons while nobody has it, under the last call. */
function footOf(record: IncidentRecord, event: Called, options: Partial<DrawOptions>): readonly Block[] {
  const { incident } = record;
  // Whoever has it is told, and asked for nothing.
  if (event.level === 0) return [];
  const since = record.events.filter(({ seq }) => seq > event.seq);
  const answers = since.filter((each) => each.type === 'incident.acknowledged');
  const answer = answers.find(({ how }) => how !== 'acted') ?? answers[0];
  const said = answer
    ? [
        prose(
          paragraph(
            words('✓ '),
            ...holder(answer.by),
            words(answer.how === 'acted' ? ' is at it, ' : ' has it, '),
            moment(answer.at),
          ),
        ),
      ]
    : [];
  const over = since.find((each) => each.type === 'state.changed' && each.to === 'resolved');
  if (over) return [...said, prose(paragraph(words('It is over since '), moment(over.at), words('.')))];
  // Whoever only did something has not said that it is theirs.
  const isTaken = answer !== undefined && answer.how !== 'acted';
  if (isTaken || since.some(endsCall) || isEnded(incident.state) || incident.state === 'stopped') return said;
  const pagers = options.pagersAfter?.(event.level) ?? [];
  return [
    ...said,
    buttons(
      button({ text: 'I have it', action: ACTIONS.take, value: incident.id, style: 'primary' }),
      ...(pagers.length > 0 ? [button({ text: 'Page now', action: ACTIONS.page, value: incident.id })] : []),
    ),
  ];
}

/** Another call stands below, or the incident came back, was stopped or given back since. */
const endsCall = (event: IncidentEvent): boolean =>
  (event.type === 'person.called' && event.level > 0) ||
  event.type === 'incident.released' ||
  (event.type === 'state.changed' && (event.from === 'resolved' || event.to === 'stopped'));

/** Somebody at a paging service is a name. */
export const holder = (by: string): readonly Span[] => [
  isSlackUser(by) ? person(by) : bold(cut(oneLine(by), 80)),
];

/** Nobody was paged by it; the next level is called. */
export function drawPageFailed({ incident }: IncidentRecord, event: PageFailed, number: number): Slot {
  const says = `I could not page by ${cut(oneLine(event.pager), 40)}: ${cut(oneLine(event.reason), 80).replace(/[.\s]+$/, '')}. I keep trying. If you read this, press “I have it” on the call above.`;
  return {
    slot: `page-failed:${number}`,
    inThread: true,
    text: escape(`${incident.id}: ${says}`),
    blocks: [prose(paragraph(words('⚠️ '), words(says)))],
  };
}

/** For the root: who has it, who was called, what waits. */
export function callLine({ incident, events }: IncidentRecord): readonly Span[] | null {
  if (isEnded(incident.state)) return null;
  const { acknowledged, called, waitsUntil } = callStateOf(events);
  if (acknowledged)
    return [
      bold(acknowledged.how === 'acted' ? 'At it: ' : 'Has it: '),
      ...holder(acknowledged.by),
      words(' since '),
      moment(acknowledged.at),
    ];
  // Without a mention: where the root comes late, it would ring a second time.
  if (called) return [bold('Called at '), moment(called.at), words('. Nobody has it yet.')];
  return waitsUntil === null
    ? null
    : [bold('Quiet hours: '), words('a call waits until '), moment(waitsUntil)];
}
