import { ordinal } from '../../../core/count.ts';
import { groupTitle } from '../../../core/group.ts';
import type { IncidentState } from '../../../core/incident.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isEnded } from '../../../core/machine.ts';
import { isMerged, mergedWith } from '../../../core/merged-with.ts';
import { CLAUDES_WORDS, causeFound, causeTitle, isModels, label } from '../../../core/model-words.ts';
import { mutedNow } from '../../../core/muted-now.ts';
import { formatHeldBack } from '../../../core/seen-before.ts';
import { formatFixed, hasFallen, undoneRepair } from '../../../core/undone.ts';
import { formatLastingFix } from '../../../incidents/questions/format-lasting-fix.ts';
import { formatNextStep } from '../../../incidents/questions/format-state.ts';
import { lineForTarget } from '../../../ingest/line-for-target.ts';
import type { Span } from './build.ts';
import { bold, buttons, code, heading, moment, paragraph, prose, words } from './build.ts';
import { callLine } from './call.ts';
import { leadLines } from './changes.ts';
import { asOf, formatDoubleCheck, formatHypothesis } from './diagnosis.ts';
import { fitting, type Section, seenLength } from './fit.ts';
import {
  because,
  type Cap,
  decided,
  goingOn,
  type Lines,
  nameOf,
  newestPlan,
  type Options,
  whoOf,
} from './going-on.ts';
import { colorOf, facts, formatCause, mark, money, span, times } from './labels.ts';
import { lookedLine } from './looked.ts';
import { worstSeverity } from './merged.ts';
import { nextStepOf } from './next-step.ts';
import { buttonsOf, investigateButton } from './root-buttons.ts';
import type { Slot } from './slot.ts';
import { decidedMeanwhile, standingOf } from './standing.ts';
import { stopLines } from './stop-lines.ts';
import { cut, escape, oneLine } from './text.ts';

/** All that is seen of the root without a press: title, text, the labels of its buttons and the strip. */
const MOST = 700;

/** The incident's one message in the channel: everything somebody half awake needs, edited in place. */
export function drawRoot(record: IncidentRecord, options: Options = {}): Slot {
  const { incident } = record;
  if (isOneLine(record)) return drawLine(record);
  // Green is for what Sentry has seen gone, and nobody has undone since.
  const isUndone = incident.resolvedBy === 'confirmed' && hasFallen(undoneRepair(record));
  const stood = isUndone ? { ...incident, resolvedBy: null } : incident;
  const shown = { ...stood, severity: worstSeverity(record, options) };
  const title = `${mark(shown)} ${cut(oneLine(groupTitle(incident)) || '(no title)', 90)}`;
  const state = stateLine(record, options);
  const next = isMerged(incident) || decidedMeanwhile(record) !== null ? null : formatNextStep(incident);
  const cause = formatCause(record);
  const told = factsOf({ ...record, incident: shown }, options);
  const pressed = buttonsOf(record, options);
  const labels = pressed.reduce((sum, each) => sum + (each.type === 'button' ? each.text.text.length : 0), 0);
  const sections = fitting(MOST - title.length - state.length - seenLength(told) - 1 - labels, (cap) => [
    {
      title: isEnded(incident.state) ? 'What happened? ' : 'What is going on? ',
      lines: goingOn(record, options, cap),
    },
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
    strip: { color: colorOf({ ...record, incident: stood }), text: state },
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
  const rest = ` · ${facts(stateLine(record, {}), incident.severity, cut(oneLine(incident.target ?? 'unknown target'), 60), times(incident.occurrences))}`;
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
function stateLine(record: IncidentRecord, options: Options): string {
  const { incident } = record;
  if (incident.state !== 'resolved') return standingOf(record);
  const after = incident.endedAt ? ` · after ${span(incident.openedAt, incident.endedAt)}` : '';
  return `${endLabel(record, options)}${after}`;
}

function endLabel({ incident, events, actions }: IncidentRecord, { nameOf }: Options): string {
  switch (incident.resolvedBy) {
    case 'confirmed': {
      const undone = undoneRepair({ incident, actions });
      return hasFallen(undone) ? `Over · ${formatFixed(undone)}` : 'Resolved · fixed, and checked';
    }
    case 'source':
      return 'Over · the alert’s source says so';
    case 'person': {
      const closed = closedOf(events);
      const name = cut(oneLine(nameOf?.(closed?.by ?? '') ?? ''), 30) || 'a person';
      const reason = cut(oneLine(closed?.reason ?? ''), 80);
      return `Over · ${name} closed it${reason === '' ? '' : `: ${reason}`}`;
    }
    case null:
      return 'Over · nothing more was heard of its alert';
  }
}

function closedOf(events: IncidentRecord['events']) {
  const closed = events.findLast((event) => event.type === 'incident.closed');
  return closed?.type === 'incident.closed' ? closed : undefined;
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
    if (isLooking) return [[words('Still looking.')], ...leadLines(record, cap)];
    return concluded && !isEnded(incident.state)
      ? [[words('Not found.')], ...leadLines(record, cap), ...weighed(record, cap)]
      : [];
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
    ...leadLines(record, cap),
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

/** What Sentry does or waits for, who has it, who decided, and what holds it up; once it is over, what keeps it from coming back. */
function nextLines(record: IncidentRecord, options: Options, cap: Cap): Lines {
  const { incident } = record;
  const isPart = isMerged(incident);
  const lasting = incident.state === 'resolved' ? formatLastingFix(record) : null;
  const prevents: Lines = [
    ...(lasting === null ? [] : [[words(cut(oneLine(lasting), cap(200)))]]),
    ...noTarget(record),
  ];
  if (isEnded(incident.state)) return prevents;
  const said = isPart || decidedMeanwhile(record) !== null ? [] : nextStepOf(incident, cap(170));
  const call = isPart ? null : callLine(record);
  const no = denied(record);
  const looked = isPart ? null : lookedLine(record, cap(120));
  return [
    ...no,
    ...(said.length > 0 ? [said] : []),
    ...(looked ? [looked] : []),
    ...held(record, cap),
    ...(call ? [call] : []),
    ...verified(record, cap),
    ...decided(record),
    ...prevents,
    ...lastTime(record, options, cap),
  ];
}

/** Who stopped it, or what keeps anything from being changed. */
function held({ events, actions }: IncidentRecord, cap: Cap): Lines {
  const stopped = events.findLast((event) => event.type === 'incident.stopped');
  const resumed = events.findLast((event) => event.type === 'incident.resumed');
  const isStopped =
    stopped?.type === 'incident.stopped' && (resumed === undefined || resumed.seq < stopped.seq);
  const own: Lines = isStopped
    ? [[words('Stopped by '), ...whoOf(stopped.by), ...because(stopped.reason, cap(120))]]
    : [];
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

/** Who said no to what was proposed last, and so why it is not done. */
function denied(record: IncidentRecord): Lines {
  const plan = newestPlan(record);
  if (plan?.state !== 'denied' || !plan.decidedBy) return [];
  const at = plan.decidedAt ? [words(' at '), moment(plan.decidedAt)] : [];
  return [[bold('Not done: '), ...whoOf(plan.decidedBy), words(' said no'), ...at, words('.')]];
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
  const { endedAt, ended, fixedBy, failed, undone } = last;
  return [
    [
      bold('Last time: '),
      moment(endedAt, '{date_short_pretty} {time}'),
      words(`, ${lastEnds[ended]}${fixedBy ? `: ${cut(oneLine(fixedBy), cap(120))}` : ''}`),
      ...(failed ? [words(`. Did not help: ${cut(oneLine(failed), cap(100))}`)] : []),
      ...(undone
        ? [
            words(`. ${cut(oneLine(undone.act), cap(100))}: ${undone.says} `),
            ...whoOf(undone.by ?? 'a person'),
          ]
        : []),
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
