import { type Called, callStateOf } from '../../../core/calls.ts';
import type { CallReason, IncidentEvent } from '../../../core/event.ts';
import { groupTitle } from '../../../core/group.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { isEnded } from '../../../core/machine.ts';
import { formatStanding } from '../../../incidents/questions/format-state.ts';
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
import { cut, escape, oneLine } from './text.ts';

type PageFailed = Extract<IncidentEvent, { type: 'page.failed' }>;

const heads: Readonly<Record<CallReason, { readonly says: string; readonly asks: string }>> = {
  unsolved: { says: 'I cannot fix this.', asks: 'it is yours.' },
  unacknowledged: { says: 'Nobody has this yet.', asks: 'please take it.' },
  approval_expiry: { says: 'A fix waits, and the time to approve it runs out.', asks: 'please decide.' },
  failed_verification: { says: 'The fix did not work.', asks: 'please look.' },
};

/** Mentions who is on call, once: a new message, for edits ring nobody. What is edited in later is who has it. */
export function drawCall(record: IncidentRecord, event: Called, options: Partial<DrawOptions> = {}): Slot {
  const { incident } = record;
  const { says, asks } = heads[event.reason];
  const found = (event.groups ?? []).map((handle) => ({ handle, id: options.groupOf?.(handle) ?? null }));
  const ids = [...event.mentions, ...found.flatMap(({ id }) => id ?? [])];
  const who = mentionsOf(ids.filter((id) => /^[UWS][A-Z0-9]+$/.test(id)));
  const unknown = found.filter(({ id }) => id === null).map(({ handle }) => `@${handle}`);
  const names = cut([...event.names, ...unknown].map(oneLine).join(', '), 200);
  const others = names === '' ? [] : [bold(names), words(', ')];
  const again = event.level > 1 ? 'Nobody has answered. ' : '';
  const what = `${incident.id} · ${incident.severity} · ${cut(oneLine(groupTitle(incident)), 150)}${incident.target === null ? '' : ` on ${cut(oneLine(incident.target), 60)}`}`;
  return {
    slot: `call:${event.seq}`,
    inThread: true,
    text: `${who.text}${escape(oneLine(`${names === '' ? '' : `${names}: `}${again}${says.replace(/\.$/, ':')} ${asks} ${what}`))}`,
    blocks: [
      prose(
        paragraph(bold(`${again}${says} `), ...who.spans, ...others, words(asks)),
        paragraph(words(`${what}. ${formatStanding(incident)}.`)),
        ...notes(event).map((spans) => paragraph(...spans)),
      ),
      ...footOf(record, event, options),
    ],
  };
}

function notes({ pagers, problem }: Called): readonly (readonly Span[])[] {
  return [
    ...(pagers.length > 0 ? [[words(`Also paged: ${cut(pagers.join(', '), 200)}.`)]] : []),
    ...(problem === null ? [] : [[words(cut(oneLine(problem), 300), { italic: true })]]),
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
  const says = `I could not page by ${cut(oneLine(event.pager), 60)}: ${cut(oneLine(event.reason), 200).replace(/[.\s]+$/, '')}. I keep trying. If you read this, press “I have it” on the call above.`;
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
