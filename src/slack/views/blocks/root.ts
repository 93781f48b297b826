import { isResting } from '../../../core/effort.ts';
import { groupTitle } from '../../../core/group.ts';
import type { Incident } from '../../../core/incident.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { isMerged, mergedWith } from '../../../core/merged-with.ts';
import { causeFound, causeTitle, isModels, label } from '../../../core/model-words.ts';
import { mutedNow } from '../../../core/muted-now.ts';
import { formatLastingFix } from '../../../incidents/questions/format-lasting-fix.ts';
import { formatNextStep, formatStanding } from '../../../incidents/questions/format-state.ts';
import { askLabel } from './again.ts';
import type { Span } from './build.ts';
import {
  bold,
  button,
  buttons,
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
import { colorOf, facts, formatCause, mark, money, span, times } from './labels.ts';
import { memberParts, partButtons, partOf, worstSeverity } from './merged.ts';
import { nextStepOf } from './next-step.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { stopLines } from './stop-lines.ts';
import { cut, escape, oneLine } from './text.ts';

/** The incident's one message in the channel: everything somebody half awake needs, edited in place. */
export function drawRoot(record: IncidentRecord, options: Partial<DrawOptions> = {}): Slot {
  const { incident } = record;
  if (isOneLine(record)) return drawLine(record);
  const isPart = isMerged(incident);
  const shown = { ...incident, severity: worstSeverity(record, options) };
  const title = `${mark(shown)} ${groupTitle(incident)}`;
  const state = stateLine(record);
  const next = isPart ? null : formatNextStep(incident);
  const cause = formatCause(record);
  const causeLabel = causeTitle(record);
  return {
    slot: 'root',
    inThread: false,
    text: escape(
      cut(
        oneLine(
          `${incident.id} ${title} · ${state}${cause ? ` · ${causeLabel}${cause}` : ''}${next ? ` · ${next}` : ''}`,
        ),
        600,
      ),
    ),
    blocks: [
      heading(title),
      prose(
        ...partOf(record, options).map((spans) => paragraph(...spans)),
        ...summaryOf(record).map((spans) => paragraph(...spans)),
        paragraph(...factsOf({ ...record, incident: shown })),
        ...memberParts(record, options),
        ...muted(record).map((spans) => paragraph(...spans)),
        ...lastTime(record, options).map((spans) => paragraph(...spans)),
        ...related(record, options).map((spans) => paragraph(...spans)),
        ...(cause
          ? [
              paragraph(bold(causeLabel), words(cut(cause, 900)), ...asOf(causeFound(record.events)?.at)),
              ...weighed(record).map((spans) => paragraph(...spans)),
            ]
          : []),
        ...(incident.nextStep && !isPart ? [paragraph(bold('Next: '), ...nextStepOf(incident, 500))] : []),
        ...lasting(record).map((spans) => paragraph(...spans)),
        ...[(isPart ? null : callLine(record)) ?? []]
          .filter(({ length }) => length > 0)
          .map((spans) => paragraph(...spans)),
        ...actors(record).map((spans) => paragraph(...spans)),
      ),
      buttons(
        button({ text: 'What happened, and why', action: ACTIONS.why, value: incident.id }),
        ...partButtons(record, options),
        ...(isPart ? [] : investigateButton(record)),
        ...alertLink(record),
      ),
    ],
    strip: { color: colorOf(record), text: state },
  };
}

/** The policy asks for nothing, nobody has asked for more, and it is taken for no part of anything. */
export const isOneLine = ({
  incident: { effort, state, round },
  events,
}: Pick<IncidentRecord, 'incident' | 'events'>): boolean =>
  effort === 'none' &&
  round === 1 &&
  (state === 'reported' || state === 'resolved') &&
  mergedWith(events).length === 0;

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

/** Where less was done than a person may want. */
function investigateButton({ incident: { id, state, effort }, events }: IncidentRecord) {
  if (state !== 'reported' || !isResting(effort)) return [];
  return [button({ text: askLabel(events), action: ACTIONS.investigate, value: id })];
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

function factsOf({ incident, events }: IncidentRecord): readonly Span[] {
  const target = incident.target ?? incident.labels['instance'] ?? 'unknown target';
  const { members, membersFiring } = incident;
  const firing = members > 1 && membersFiring < members ? `${membersFiring} of them fire` : null;
  const rest = facts(
    incident.severity,
    cut(oneLine(target), 80),
    firing,
    times(incident.occurrences),
    'since ',
  );
  const chosen = events.findLast((event) => event.type === 'investigator.chosen');
  const spent = money(incident.costUsd);
  const model = spent && chosen?.model ? ` (${cut(oneLine(chosen.model), 60)})` : '';
  return [
    bold(incident.id),
    words(` · ${rest}`),
    moment(incident.openedAt),
    ...(spent ? [words(` · ${spent}${model}`)] : []),
  ];
}

/** The rest of the diagnosis in a line or two: when it began, whether it is there now, what else was weighed. */
function weighed({ events }: IncidentRecord): readonly (readonly Span[])[] {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  if (last?.type !== 'diagnosis.concluded') return [];
  const { diagnosis } = last;
  const isModel = isModels(diagnosis, events);
  const { onset, symptomNow, hypotheses = [], wouldChangeMyMind, doubleCheck } = diagnosis;
  const others = hypotheses.filter(({ end }) => end !== 'ruled_in').slice(0, 3);
  return [
    ...(onset === undefined ? [] : [[bold(label('Began', isModel)), moment(onset)]]),
    ...(symptomNow === undefined
      ? []
      : [[bold(label('There now', isModel)), words(symptomNow.present ? 'yes' : 'no')]]),
    ...(others.length === 0
      ? []
      : [
          [
            bold(label(isModel ? 'Else weighed' : 'Looked at too', isModel)),
            words(others.map((each) => formatHypothesis(each, isModel, 100)).join(' · ')),
          ],
        ]),
    ...(isModel && wouldChangeMyMind
      ? [[bold(label('Wrong if', isModel)), words(cut(oneLine(wouldChangeMyMind), 200))]]
      : []),
    ...(doubleCheck?.reason ? [[words(formatDoubleCheck(doubleCheck))]] : []),
  ];
}

/** What the alert says in a sentence, where its title is only a name. */
function summaryOf({ incident }: IncidentRecord): readonly (readonly Span[])[] {
  const said = oneLine(incident.annotations['summary'] ?? incident.annotations['description'] ?? '');
  return said === '' || said === oneLine(incident.title) ? [] : [[words(cut(said, 300))]];
}

const lastEnds = {
  ignored: 'nothing was found to investigate',
  confirmed: 'fixed',
  source: 'it went away by itself',
  person: 'a person ended it',
  silence: 'nothing more was heard of it',
} as const;

/** The incident that the same alert had before, where it may be named here. */
function lastTime({ events }: IncidentRecord, options: Partial<DrawOptions>): readonly (readonly Span[])[] {
  const last = events.findLast((event) => event.type === 'incident.last_time');
  if (last?.type !== 'incident.last_time' || options.mayName?.(last.earlier) !== true) return [];
  const { earlier: id, endedAt, ended, fixedBy } = last;
  const url = options.threadUrl?.(id) ?? null;
  return [
    [
      bold('Last time: '),
      url ? link(url, id) : words(id),
      words(', '),
      moment(endedAt, '{date_short_pretty} at {time}'),
      words(`, ${lastEnds[ended]}${fixedBy ? `: ${cut(oneLine(fixedBy), 200)}` : ''}`),
    ],
  ];
}

/** It fires, and nothing is done about it yet. */
function muted(record: IncidentRecord): readonly (readonly Span[])[] {
  const event = mutedNow(record);
  if (event === null) return [];
  const { at, by, until, reason } = event;
  return [
    [
      bold('Muted until '),
      deadline(until, at),
      words(' by '),
      isSlackUser(by) ? person(by) : words(cut(oneLine(by), 80)),
      ...(reason ? [words(`: ${cut(oneLine(reason), 200)}`)] : []),
    ],
  ];
}

/** Other incidents on the same physical system, as far as they may be named here. */
function related({ events }: IncidentRecord, options: Partial<DrawOptions>): readonly (readonly Span[])[] {
  const linesOf = (began: 'before' | 'since', says: string): readonly (readonly Span[])[] => {
    const ids = events.flatMap((event) =>
      event.type === 'incident.related' && event.began === began ? event.incidents : [],
    );
    const named = [...new Set(ids)].filter((id) => options.mayName?.(id) === true).slice(0, 5);
    if (named.length === 0) return [];
    const spans = named.flatMap((id, index) => {
      const url = options.threadUrl?.(id) ?? null;
      return [...(index > 0 ? [words(', ')] : []), url ? link(url, id) : words(id)];
    });
    return [[bold(says), ...spans]];
  };
  return [
    ...linesOf('before', 'Open on the same system when this began: '),
    ...linesOf('since', 'Also open on the same system since: '),
  ];
}

/** What was asked for once it was fixed, and how that stands. */
function lasting(record: IncidentRecord): readonly (readonly Span[])[] {
  const said = record.incident.state === 'resolved' ? formatLastingFix(record) : null;
  return said === null ? [] : [[words(cut(oneLine(said), 400))]];
}

/** Who decided what, newest first. */
function actors(record: IncidentRecord): readonly (readonly Span[])[] {
  const { actions, events } = record;
  const lines: (readonly Span[])[] = [];
  const decided = actions.findLast((action) => action.decidedBy !== null && !action.beside);
  if (decided?.decidedBy) {
    const who = decided.decidedBy === 'policy' ? words('the policy') : person(decided.decidedBy);
    const said = decided.state === 'denied' ? [who, words(' said no')] : [words('Approved by '), who];
    lines.push([...said, ...when(decided.decidedAt)]);
  }
  const stopped = events.filter((event) => event.type === 'incident.stopped').at(-1);
  const resumed = events.filter((event) => event.type === 'incident.resumed').at(-1);
  if (stopped && (resumed === undefined || resumed.seq < stopped.seq))
    lines.push([
      words('Stopped by '),
      person(stopped.by),
      ...(stopped.reason ? [words(`: ${cut(oneLine(stopped.reason), 200)}`)] : []),
    ]);
  if (record.incident.endedAt !== null) return lines;
  const stops = stopLines(events);
  const held = actions.findLast(({ step }) => step === 1)?.heldBy;
  if (stops.length === 0 && held)
    return [...lines, [bold('Nothing is changed: '), words(cut(oneLine(held), 300))]];
  return [...lines, ...stops];
}

const when = (iso: string | null): readonly Span[] => (iso ? [words(' at '), moment(iso)] : []);

function alertLink({ alerts }: IncidentRecord) {
  const url = alerts.findLast((alert) => alert.url !== null)?.url;
  // Slack refuses the whole message for an address that is none.
  if (!url || !/^https?:\/\//i.test(url) || !URL.canParse(url) || url.length > 3000) return [];
  return [button({ text: 'Open the alert', action: ACTIONS.link, value: 'alert', url })];
}
