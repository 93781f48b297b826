import { repairOf, stepsOf } from '../../../core/action.ts';
import { ordinal } from '../../../core/count.ts';
import { describePlan } from '../../../core/describe-act.ts';
import { groupTitle } from '../../../core/group.ts';
import type { Incident, IncidentState } from '../../../core/incident.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { isEnded } from '../../../core/machine.ts';
import { isMerged, mergedWith } from '../../../core/merged-with.ts';
import { CLAUDES_WORDS, causeFound, causeTitle, isModels, label } from '../../../core/model-words.ts';
import { mutedNow } from '../../../core/muted-now.ts';
import { formatHeldBack } from '../../../core/seen-before.ts';
import { formatLastingFix } from '../../../incidents/questions/format-lasting-fix.ts';
import { formatNextStep, formatStanding } from '../../../incidents/questions/format-state.ts';
import { lineForTarget } from '../../../ingest/line-for-target.ts';
import type { Span } from './build.ts';
import {
  bold,
  buttons,
  code,
  deadline,
  heading,
  link,
  moment,
  paragraph,
  person,
  prose,
  words,
} from './build.ts';
import { callLine } from './call.ts';
import { asOf, formatDoubleCheck, formatHypothesis } from './diagnosis.ts';
import { fitting, type Section, seenLength } from './fit.ts';
import { colorOf, facts, formatCause, mark, money, span, times } from './labels.ts';
import { memberLines, partOf, worstSeverity } from './merged.ts';
import { nextStepOf } from './next-step.ts';
import { buttonsOf, investigateButton } from './root-buttons.ts';
import type { DrawOptions, Slot } from './slot.ts';
import { stopLines } from './stop-lines.ts';
import { cut, escape, oneLine } from './text.ts';

type Lines = readonly (readonly Span[])[];
type Options = Partial<DrawOptions>;
/** How long a text may be, of the most it should ever be. */
type Cap = (most: number) => number;

/** All that is seen of the root without a press: title, text, the labels of its buttons and the strip. */
const MOST = 700;

/** The incident's one message in the channel: everything somebody half awake needs, edited in place. */
export function drawRoot(record: IncidentRecord, options: Options = {}): Slot {
  const { incident } = record;
  if (isOneLine(record)) return drawLine(record);
  const shown = { ...incident, severity: worstSeverity(record, options) };
  const title = `${mark(shown)} ${cut(oneLine(groupTitle(incident)) || '(no title)', 90)}`;
  const state = stateLine(record);
  const next = isMerged(incident) ? null : formatNextStep(incident);
  const cause = formatCause(record);
  const told = factsOf({ ...record, incident: shown }, options);
  const pressed = buttonsOf(record, options);
  const labels = pressed.reduce((sum, each) => sum + (each.type === 'button' ? each.text.text.length : 0), 0);
  const sections = fitting(MOST - title.length - state.length - seenLength(told) - 1 - labels, (cap) => [
    { title: 'What is going on? ', lines: goingOn(record, options, cap) },
    { title: 'What caused it? ', lines: causeLines(record, cap) },
    { title: 'What next? ', lines: nextLines(record, options, cap) },
  ]);
  return {
    slot: 'root',
    inThread: false,
    text: escape(
      cut(
        oneLine(
          `${incident.id} ${title} · ${state}${cause ? ` · ${causeTitle(record)}${cause}` : ''}${next ? ` · ${next}` : ''}`,
        ),
        600,
      ),
    ),
    blocks: [
      heading(title),
      prose(paragraph(...told), ...sections.flatMap(paragraphsOf)),
      ...(pressed.length > 0 ? [buttons(...pressed)] : []),
    ],
    strip: { color: colorOf(record), text: state },
  };
}

const paragraphsOf = ({ title, lines }: Section) =>
  lines.map((spans, at) => paragraph(...(at === 0 ? [bold(title)] : []), ...spans));

/** The policy asks for nothing, nobody has asked for more or has it, and it is taken for no part of anything. */
export const isOneLine = ({
  incident: { effort, state, round },
  events,
}: Pick<IncidentRecord, 'incident' | 'events'>): boolean =>
  effort === 'none' &&
  round === 1 &&
  (state === 'reported' || state === 'resolved') &&
  mergedWith(events).length === 0 &&
  !events.some(({ type }) => type === 'incident.acknowledged');

function drawLine(record: IncidentRecord): Slot {
  const { incident } = record;
  const line = `${mark(incident)} ${cut(oneLine(groupTitle(incident)), 200)}`;
  const rest = ` · ${facts(stateLine(record), incident.severity, cut(oneLine(incident.target ?? 'unknown target'), 60), times(incident.occurrences))}`;
  return {
    slot: 'root',
    inThread: false,
    text: escape(`${incident.id} ${line}${rest}`),
    blocks: [
      prose(paragraph(bold(`${incident.id} `), words(line), words(rest))),
      ...(incident.state === 'reported' ? [buttons(...investigateButton(record))] : []),
    ],
  };
}

/** On whose word it is over. */
const endLabels: Readonly<Record<NonNullable<Incident['resolvedBy']>, string>> = {
  confirmed: 'Resolved · fixed, and checked',
  source: 'Over · the alert’s source says so',
  person: 'Over · a person says so',
};

const UNHEARD = 'Over · nothing more was heard of its alert';

function stateLine({ incident }: IncidentRecord): string {
  if (incident.state !== 'resolved') return formatStanding(incident);
  const after = incident.endedAt ? ` · after ${span(incident.openedAt, incident.endedAt)}` : '';
  return `${incident.resolvedBy ? endLabels[incident.resolvedBy] : UNHEARD}${after}`;
}

function factsOf(record: IncidentRecord, options: Options): readonly Span[] {
  const { incident } = record;
  const target = incident.target ?? incident.labels['instance'] ?? 'unknown target';
  const { members, membersFiring } = incident;
  const spent = money(incident.costUsd);
  return [
    bold(incident.id),
    words(` · ${facts(incident.severity, cut(oneLine(target) || 'unknown target', 32), 'since ')}`),
    moment(incident.openedAt),
    ...(members > 1 && membersFiring < members ? [words(` · ${membersFiring} of ${members} fire`)] : []),
    ...recurrence(record, options),
    ...(spent ? [words(` · ${spent}`)] : []),
  ];
}

/** Which time it is, as far as that is on record and its earlier time may be named here. */
function recurrence(record: IncidentRecord, options: Options): readonly Span[] {
  const seen = times(record.incident.occurrences);
  const last = lastTimeOf(record, options);
  return [
    ...(seen ? [words(` · ${seen}`)] : []),
    ...(last
      ? [
          words(last.times ? ` · ${ordinal(last.times)} time in 24 h (` : ' · seen before ('),
          ...nameOf(last.earlier, options),
          words(')'),
        ]
      : []),
  ];
}

function nameOf(id: Incident['id'], { threadUrl }: Options): readonly Span[] {
  const url = threadUrl?.(id) ?? null;
  return [url ? link(url, id) : words(id)];
}

/** What the alert says and what was seen; of what is over, what ended it. */
function goingOn(record: IncidentRecord, options: Options, cap: Cap): Lines {
  return [
    ...endOf(record, cap),
    ...partOf(record, options, cap(120)),
    ...(isEnded(record.incident.state) ? [] : muted(record, cap)),
    ...summaryOf(record, cap),
    ...memberLines(record, options, cap(40)),
    ...seenNow(record),
    ...related(record, options),
  ];
}

/** What fixed it, else on whose word it is over; then who had decided. */
function endOf(record: IncidentRecord, cap: Cap): Lines {
  const { incident, actions, events } = record;
  if (incident.state !== 'resolved') return [];
  const repair = incident.resolvedBy === 'confirmed' ? repairOf(actions, incident.round) : undefined;
  if (repair)
    return [
      [bold('Fixed: '), words(cut(oneLine(describePlan(stepsOf(actions, repair), true)), cap(160)))],
      ...decided(record),
    ];
  const closed = events.findLast((event) => event.type === 'incident.closed');
  const word =
    incident.resolvedBy === 'person' && closed?.type === 'incident.closed'
      ? [bold('Closed by '), ...whoOf(closed.by), ...because(closed.reason, cap(140))]
      : [words(incident.resolvedBy === null ? 'Nothing more was heard of it.' : 'It is over.')];
  return [word, ...decided(record)];
}

/** What the alert says in a sentence, where its title is only a name. */
function summaryOf({ incident }: IncidentRecord, cap: Cap): Lines {
  const said = oneLine(incident.annotations['summary'] ?? incident.annotations['description'] ?? '');
  if (said === '' || said === oneLine(incident.title)) return [];
  return [[...(isEnded(incident.state) ? [bold('The alert said: ')] : []), words(cut(said, cap(180)))]];
}

/** When it began, and whether it was there when it was looked at. */
function seenNow({ incident, events }: IncidentRecord): Lines {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  if (last?.type !== 'diagnosis.concluded' || isEnded(incident.state)) return [];
  const isModel = isModels(last.diagnosis, events);
  const { onset, symptomNow } = last.diagnosis;
  if (onset === undefined && symptomNow === undefined) return [];
  return [
    [
      ...(symptomNow === undefined
        ? []
        : [
            bold(label('There now', isModel)),
            words(symptomNow.present ? 'yes' : 'no'),
            ...asOf(last.at),
            words(onset === undefined ? '' : ' · '),
          ]),
      ...(onset === undefined
        ? []
        : [bold(label('Began', isModel && symptomNow === undefined)), moment(onset)]),
    ],
  ];
}

/** Other incidents on the same physical system, as far as they may be named here. */
function related({ events }: IncidentRecord, options: Options): Lines {
  const lineOf = (began: 'before' | 'since', says: string): Lines => {
    const ids = events.flatMap((event) =>
      event.type === 'incident.related' && event.began === began ? event.incidents : [],
    );
    const named = [...new Set(ids)].filter((id) => options.mayName?.(id) === true).slice(0, 3);
    if (named.length === 0) return [];
    return [
      [
        bold(says),
        ...named.flatMap((id, index) => [...(index > 0 ? [words(', ')] : []), ...nameOf(id, options)]),
      ],
    ];
  };
  return [
    ...lineOf('before', 'Open on the same system when this began: '),
    ...lineOf('since', 'Also open on the same system since: '),
  ];
}

/** States in which the cause is looked for. */
const LOOKING: readonly IncidentState[] = ['open', 'triaging', 'diagnosing'];

/** The cause with how sure it is, or that there is none yet; then what else it could have been. */
function causeLines(record: IncidentRecord, cap: Cap): Lines {
  const { incident, events } = record;
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  const concluded = last?.type === 'diagnosis.concluded' ? last.diagnosis : undefined;
  const isLooking = LOOKING.includes(incident.state) && !isMerged(incident) && mutedNow(record) === null;
  const cause = formatCause(record, cap(220));
  if (cause === null) {
    if (isLooking) return [[words('Still looking.')]];
    return concluded && !isEnded(incident.state) ? [[words('Not found.')], ...weighed(record, cap)] : [];
  }
  const found = causeFound(events);
  const whose = found && isModels(found.diagnosis, events) ? [bold(`${CLAUDES_WORDS}: `)] : [];
  return [
    [
      ...(found?.diagnosis.unexplained === undefined ? [] : [words('Not known. What is wrong: ')]),
      ...whose,
      words(cause),
      ...asOf(found?.at),
      ...(isLooking ? [words(' Still looking.')] : []),
    ],
    ...weighed(record, cap),
  ];
}

/** What was ruled out, and that nobody looked a second time. */
function weighed({ events }: IncidentRecord, cap: Cap): Lines {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  if (last?.type !== 'diagnosis.concluded') return [];
  const { diagnosis } = last;
  const isModel = isModels(diagnosis, events);
  const { hypotheses = [], doubleCheck } = diagnosis;
  const out = hypotheses.filter(({ end }) => end === 'ruled_out').slice(0, 3);
  const left = hypotheses.filter(({ end }) => end === 'open').slice(0, 2);
  const line = (title: string, those: typeof out): Lines =>
    those.length === 0
      ? []
      : [
          [
            bold(label(title, isModel)),
            words(those.map((each) => formatHypothesis(each, false, cap(70))).join(' · ')),
          ],
        ];
  return [
    // The playbook's is a sentence that says itself what is not so.
    ...line(isModel ? 'Ruled out' : 'Looked at too', out),
    ...line('Not ruled out', left),
    ...(doubleCheck?.reason ? [[words(cut(formatDoubleCheck(doubleCheck), cap(100)))]] : []),
  ];
}

/** What Sentry does or waits for, who has it, who decided, and what holds it up. */
function nextLines(record: IncidentRecord, options: Options, cap: Cap): Lines {
  const { incident } = record;
  const isPart = isMerged(incident);
  const said = isPart ? [] : nextStepOf(incident, cap(170));
  const call = isPart ? null : callLine(record);
  const lasting = incident.state === 'resolved' ? formatLastingFix(record) : null;
  return [
    ...(said.length > 0 ? [said] : []),
    ...held(record, cap),
    ...(call ? [call] : []),
    ...verified(record, cap),
    ...(incident.state === 'resolved' ? [] : decided(record)),
    ...(lasting === null ? [] : [[words(cut(oneLine(lasting), cap(200)))]]),
    ...noTarget(record),
    ...lastTime(record, options, cap),
  ];
}

/** It fires, and nothing is done about it yet. */
function muted(record: IncidentRecord, cap: Cap): Lines {
  const event = mutedNow(record);
  if (event === null) return [];
  const { at, by, until, reason } = event;
  return [
    [bold('Muted until '), deadline(until, at), words(' by '), ...whoOf(by), ...because(reason, cap(120))],
  ];
}

/** Who stopped it, or what keeps anything from being changed. */
function held({ incident, events, actions }: IncidentRecord, cap: Cap): Lines {
  const stopped = events.findLast((event) => event.type === 'incident.stopped');
  const resumed = events.findLast((event) => event.type === 'incident.resumed');
  const isStopped =
    stopped?.type === 'incident.stopped' && (resumed === undefined || resumed.seq < stopped.seq);
  const own: Lines = isStopped
    ? [[words('Stopped by '), ...whoOf(stopped.by), ...because(stopped.reason, cap(120))]]
    : [];
  if (incident.endedAt !== null) return own;
  const stops = stopLines(events);
  const reason = actions.findLast(({ step }) => step === 1)?.heldBy;
  if (stops.length === 0 && reason)
    return [...own, [bold('Nothing is changed: '), words(cut(oneLine(reason), cap(160)))]];
  return [...own, ...stops];
}

/** What was seen after the last fix, where it is not over by it. */
function verified({ incident, events }: IncidentRecord, cap: Cap): Lines {
  const last = events.findLast(
    ({ type }) => type === 'verification.concluded' || type === 'action.proposed' || type === 'plan.none',
  );
  if (last?.type !== 'verification.concluded' || isEnded(incident.state)) return [];
  const { verdict, reason } = last;
  if (verdict !== 'not_fixed' && verdict !== 'cannot_tell') return [];
  return [
    [bold(verdict === 'not_fixed' ? 'Not fixed: ' : 'Cannot tell: '), words(cut(oneLine(reason), cap(120)))],
  ];
}

/** Who decided last. */
function decided({ actions }: IncidentRecord): Lines {
  const last = actions.findLast((action) => action.decidedBy !== null && !action.beside);
  if (!last?.decidedBy) return [];
  const who = last.decidedBy === 'policy' ? words('the policy') : person(last.decidedBy);
  const said = last.state === 'denied' ? [who, words(' said no')] : [words('Approved by '), who];
  return [[...said, ...(last.decidedAt ? [words(' at '), moment(last.decidedAt)] : [])]];
}

/** So long may a line be that is to be copied: cut it would not be one. */
const COPIED = 120;

/** That an alert is about no target, and what to write so that the next one is; whoever opens one by hand is answered there. */
function noTarget({ incident, events }: IncidentRecord): Lines {
  const opened = events.find((event) => event.type === 'incident.opened');
  if (incident.target !== null || opened?.type !== 'incident.opened' || opened.source === 'hand') return [];
  const line = lineForTarget(incident.labels);
  return line === null || line.length > COPIED
    ? [[words('No target fits this alert: let its rule set a label “target”.')]]
    : [[words('No target fits this alert. Add to its target in sentry.yaml: '), code(line)]];
}

const lastEnds = {
  ignored: 'nothing was found to investigate',
  confirmed: 'fixed',
  source: 'it went away by itself',
  person: 'a person closed the incident',
  silence: 'nothing more was heard of it',
} as const;

/** The incident that the same alert had before, where it may be named here. */
function lastTimeOf({ events }: IncidentRecord, { mayName }: Options) {
  const last = events.findLast((event) => event.type === 'incident.last_time');
  return last?.type === 'incident.last_time' && mayName?.(last.earlier) === true ? last : null;
}

/** How it ended then. */
function lastTime(record: IncidentRecord, options: Options, cap: Cap): Lines {
  const last = lastTimeOf(record, options);
  if (last === null) return seenBefore(record, options, cap);
  const { endedAt, ended, fixedBy } = last;
  return [
    [
      bold('Last time: '),
      moment(endedAt, '{date_short_pretty} {time}'),
      words(`, ${lastEnds[ended]}${fixedBy ? `: ${cut(oneLine(fixedBy), cap(120))}` : ''}`),
    ],
  ];
}

/** What memory found of the like, also when all it may say is that there was something. */
function seenBefore({ events }: IncidentRecord, options: Options, cap: Cap): Lines {
  const found = events.findLast((event) => event.type === 'memory.recalled');
  if (found?.type !== 'memory.recalled') return [];
  const [first] = found.incidents;
  if (first === undefined)
    return found.heldBack ? [[words(cut(oneLine(formatHeldBack(found.heldBack)), cap(120)))]] : [];
  const { incidentId: id, ended } = first;
  return [
    [
      bold('Seen before: '),
      ...nameOf(id, options),
      ...(ended ? [words(`: ${cut(oneLine(ended), cap(120))}`)] : []),
    ],
  ];
}

const whoOf = (by: string): readonly Span[] => [isSlackUser(by) ? person(by) : words(cut(oneLine(by), 40))];
const because = (reason: string, max: number): readonly Span[] =>
  reason === '' ? [] : [words(`: ${cut(oneLine(reason), max)}`)];
