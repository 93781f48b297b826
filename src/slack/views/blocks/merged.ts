import { severities } from '../../../core/alert.ts';
import { count } from '../../../core/count.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import { groupTitle } from '../../../core/group.ts';
import type { IncidentId } from '../../../core/ids.ts';
import type { Incident, IncidentState } from '../../../core/incident.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { isEnded, nextWork } from '../../../core/machine.ts';
import type { MergeReason } from '../../../core/merge.ts';
import { isMerged, lastMerge, type Member, membersOf } from '../../../core/merged-with.ts';
import { formatStanding } from '../../../incidents/questions/format-state.ts';
import { bold, button, buttons, link, list, paragraph, person, prose, type Span, words } from './build.ts';
import { mark } from './labels.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

type Options = Partial<DrawOptions>;

/** Named in one message; more are counted. */
const NAMED = 5;
/** What joins so soon after another shares its line, and after so many lines everything does: a storm is no fifty messages. */
const TOGETHER_MS = 60_000;
const LINES = 5;

/** A member, and the incident as it is now. */
type Shown = Member & { readonly incident: Incident };

/** Those that may be named here. */
const shownOf = (events: readonly IncidentEvent[], { mergedOf }: Options): readonly Shown[] =>
  membersOf(events).flatMap((member) => {
    const incident = mergedOf?.(member.id) ?? null;
    return incident === null ? [] : [{ ...member, incident }];
  });

const isPart = ({ splitBy }: Member): boolean => splitBy === undefined;

/** In the thread of the one that leads: a new line for what is found to be a part of it, which later says that it is on its own. */
export function drawMembers(
  { incident, events }: IncidentRecord,
  options: Options,
): readonly { readonly seq: number; readonly slot: Slot }[] {
  const starts = startsOf(events);
  const members = shownOf(events, options);
  return starts.flatMap((seq, n) => {
    const end = starts[n + 1] ?? Number.POSITIVE_INFINITY;
    const own = members.filter((member) => member.seq >= seq && member.seq < end);
    return own.length === 0 ? [] : [{ seq, slot: drawLine(incident, `members:${seq}`, own, options) }];
  });
}

/** With which of the events a line begins: of all of them, whoever may be named, so that a message is called the same for good. */
function startsOf(events: readonly IncidentEvent[]): readonly number[] {
  const starts: IncidentEvent[] = [];
  for (const event of events.filter(({ type }) => type === 'member.merged')) {
    const last = starts.at(-1);
    const isNear = last && Date.parse(event.at) - Date.parse(last.at) <= TOGETHER_MS;
    if (!isNear && starts.length < LINES) starts.push(event);
  }
  return starts.map(({ seq }) => seq);
}

function drawLine({ id }: Incident, slot: string, members: readonly Shown[], options: Options): Slot {
  const named = members.slice(0, NAMED);
  const left = members.length - named.length;
  const [only] = members.length === 1 ? members : [];
  const head = only
    ? 'Also part of this: '
    : `Also part of this: ${count(members.filter(isPart).length, 'more incident')}.`;
  return {
    slot,
    inThread: true,
    text: escape(
      oneLine(
        `${id}: ${only && !isPart(only) ? `${nameOf(only.incident)} is on its own now.` : `${head}${only ? nameOf(only.incident) : ''}`}`,
      ),
    ),
    blocks: [
      prose(
        ...(only
          ? [paragraph(...(isPart(only) ? [bold(head)] : []), ...memberSpans(only, options))]
          : [paragraph(bold(head)), list(named.map((each) => memberSpans(each, options)))]),
        ...(left > 0
          ? [paragraph(words(`And ${left} more. To split one: /sentry split and its number.`))]
          : []),
      ),
      ...buttonsOf(id, named),
    ],
  };
}

/** Its title and why it is taken for a part, or that it is none any more. */
function memberSpans(member: Shown, options: Options): readonly Span[] {
  const { incident, because, splitBy } = member;
  const name = nameSpans(incident, options);
  if (splitBy === null && !isEnded(incident.state)) return [...name, words(' still fires, on its own now.')];
  if (splitBy === undefined) return [...name, words(' · '), ...reasonSpans(because)];
  return [
    ...name,
    words(' is on its own now'),
    ...(splitBy === null ? [words('.')] : [words(', split by '), ...personSpans(splitBy), words('.')]),
  ];
}

/** One button for each that can be split off or put back. */
function buttonsOf(lead: IncidentId, members: readonly Shown[]) {
  const open = members.filter(({ incident, splitBy }) => !isEnded(incident.state) && splitBy !== null);
  if (open.length === 0) return [];
  return [
    buttons(
      ...open.map((member, n) => {
        const which = members.length === 1 ? '' : ` ${member.id}`;
        return isPart(member)
          ? button({ text: `Split${which}`, action: `${ACTIONS.split}_${n}`, value: member.id })
          : button({
              text: `Put back${which}`,
              action: `${ACTIONS.putBack}_${n}`,
              value: `${member.id}:${lead}`,
            });
      }),
    ),
  ];
}

/** On the card of the one that leads: what is not over with it, and what else it stands for, the worst first; titles cut to `max`. */
export function memberLines(
  record: IncidentRecord,
  options: Options,
  max: number,
): readonly (readonly Span[])[] {
  const all = shownOf(record.events, options);
  const left = isEnded(record.incident.state)
    ? all.filter(({ incident, splitBy }) => splitBy === null && !isEnded(incident.state))
    : [];
  const parts = all.filter(isPart).toSorted((a, b) => rankOf(a.incident) - rankOf(b.incident));
  const firing = `${count(left.length, 'incident')} that ${left.length === 1 ? 'was' : 'were'} a part of this`;
  return [
    ...lineOf(`Not over with it: ${firing}. `, left, options, max, formatStanding),
    ...lineOf(`Also part of this: ${count(parts.length, 'more incident')}. `, parts, options, max, stateOf),
  ];
}

/** So many are named on a card. */
const ON_CARD = 3;

function lineOf(
  head: string,
  members: readonly Shown[],
  options: Options,
  max: number,
  standing: (incident: Incident) => string,
): readonly (readonly Span[])[] {
  if (members.length === 0) return [];
  const left = members.length - ON_CARD;
  return [
    [
      bold(head),
      ...members
        .slice(0, ON_CARD)
        .flatMap(({ incident }, at) => [
          words(`${at > 0 ? ', ' : ''}${mark(incident)} `),
          ...nameSpans(incident, options, max),
          words(` · ${standing(incident)}`),
        ]),
      ...(left > 0 ? [words(`, and ${left} more`)] : []),
    ],
  ];
}

/** What is over comes last. */
const rankOf = ({ state, severity }: Incident): number =>
  (isEnded(state) ? severities.length : 0) + severities.indexOf(severity);

function stateOf(incident: Incident): string {
  if (!isMerged(incident)) return formatStanding(incident);
  return incident.sourceResolvedAt === null ? 'still fires' : 'its alert is over';
}

/** The worst of what the incident stands for: its own, or that of a part of it that is not over. */
export function worstSeverity(record: IncidentRecord, options: Options): Incident['severity'] {
  const open = shownOf(record.events, options).filter(
    (each) => isPart(each) && !isEnded(each.incident.state),
  );
  const all = [record.incident, ...open.map(({ incident }) => incident)].map(({ severity }) => severity);
  return severities.find((each) => all.includes(each)) ?? record.incident.severity;
}

/** On the card of one that is, or was, a part of another: which, and why, in words cut to `max`. */
export function partOf(
  { incident, events }: IncidentRecord,
  options: Options,
  max: number,
): readonly (readonly Span[])[] {
  const last = lastMerge(events);
  if (last === null || isEnded(incident.state)) return [];
  if (last.type === 'incident.merged')
    return isMerged(incident)
      ? [[bold('Part of '), idSpan(last.into, options), words(': '), ...reasonSpans(last.because, max)]]
      : [];
  if (last.by !== null)
    return [[bold('Split from '), idSpan(last.from, options), words(' by '), ...personSpans(last.by)]];
  const ends = endOf(options.mergedOf?.(last.from)?.state);
  // It was stopped, or went its own way, while the other is still looked into.
  if (incident.state === 'stopped' || ends === null)
    return [[words('No longer a part of '), idSpan(last.from, options), words('.')]];
  return [[idSpan(last.from, options), words(` ${ends}, this still fires: I look into it by itself.`)]];
}

/** Why what led leads no more; null: it still could. What is not known here was let go because it is over. */
function endOf(state: IncidentState | undefined): string | null {
  if (state === undefined || isEnded(state)) return 'is over';
  return nextWork(state) === 'wait' ? 'waits for people' : null;
}

/** *Split*, and after a person has split it *Put back*. */
export function partButtons({ incident, events }: IncidentRecord, { mergedOf }: Options) {
  const last = lastMerge(events);
  if (last === null || isEnded(incident.state)) return [];
  if (last.type === 'incident.merged')
    return isMerged(incident) ? [button({ text: 'Split', action: ACTIONS.split, value: incident.id })] : [];
  if (last.by === null || (mergedOf?.(last.from) ?? null) === null) return [];
  return [button({ text: 'Put back', action: ACTIONS.putBack, value: `${incident.id}:${last.from}` })];
}

const nameOf = (incident: Incident): string => `${cut(oneLine(groupTitle(incident)), 120)} (${incident.id})`;

function nameSpans(incident: Incident, { threadUrl }: Options, max = 120): readonly Span[] {
  const url = threadUrl?.(incident.id) ?? null;
  const title = cut(oneLine(groupTitle(incident)), max);
  return [bold(title), words(' ('), url ? link(url, incident.id) : words(incident.id), words(')')];
}

function idSpan(id: IncidentId, { threadUrl }: Options): Span {
  const url = threadUrl?.(id) ?? null;
  return url ? link(url, id) : words(id);
}

function reasonSpans(because: MergeReason, max = 200): readonly Span[] {
  switch (because.kind) {
    case 'neighbour':
      return [words(cut(oneLine(`${because.neighbour} is a neighbour of ${because.target}`), max))];
    case 'change': {
      const title = cut(oneLine(because.change.title), max);
      const { url } = because.change;
      return [words('both came after the same change: '), url ? link(url, title) : words(title)];
    }
    case 'person':
      return [...personSpans(because.by), words(' put them together')];
  }
}

const personSpans = (by: string): readonly Span[] => [
  isSlackUser(by) ? person(by) : words(cut(oneLine(by), 80)),
];
