import { type Action, neverRan, repairOf, stepsOf } from '../../../core/action.ts';
import { capitalised } from '../../../core/capitalised.ts';
import { describePlan } from '../../../core/describe-act.ts';
import type { Incident } from '../../../core/incident.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { isEnded } from '../../../core/machine.ts';
import { formatSeen } from '../../../core/measure.ts';
import { isModels, label } from '../../../core/model-words.ts';
import { mutedNow } from '../../../core/muted-now.ts';
import { overriddenBy } from '../../../core/overridden.ts';
import { hasFallen, undoneOf } from '../../../core/undone.ts';
import { seenWrong } from '../../../incidents/recovery/recovery-series.ts';
import { bold, deadline, link, moment, person, type Span, words } from './build.ts';
import { people, undoneLine } from './decided-card.ts';
import { asOf } from './diagnosis.ts';
import { span } from './labels.ts';
import { memberLines, partOf } from './merged.ts';
import { openingsOf } from './openings.ts';
import type { DrawOptions } from './slot.ts';
import { cut, oneLine } from './text.ts';

export type Lines = readonly (readonly Span[])[];
export type Options = Partial<DrawOptions>;
/** How long a text may be, of the most it should ever be. */
export type Cap = (most: number) => number;

/** What was seen, else what the alert says; of what is over, what it was and what ended it. */
export function goingOn(record: IncidentRecord, options: Options, cap: Cap): Lines {
  const seen = seenLines(record, options, cap);
  if (isEnded(record.incident.state))
    return [
      ...seen,
      ...endOf(record, cap),
      ...partOf(record, options, cap(120)),
      ...(seen.length > 0 ? [] : summaryOf(record, cap)),
      ...memberLines(record, options, cap(40)),
    ];
  return [
    ...partOf(record, options, cap(120)),
    ...muted(record, cap),
    ...seen,
    ...summaryOf(record, cap),
    ...memberLines(record, options, cap(40)),
    ...(seen.length > 0 ? [] : seenNow(record)),
    ...related(record, options),
  ];
}

/** What was wrong on the live system, as of when; once it is over, for how long it was open. */
function seenLines(record: IncidentRecord, { measured }: Options, cap: Cap): Lines {
  const opening = openingsOf(record).at(-1);
  const seen = measured && opening ? seenWrong(record, Date.parse(opening.startedAt), measured) : null;
  if (!seen || !opening) return [];
  const { end, startedAt } = opening;
  const said = formatSeen(seen.measure, seen.value, end ? 'was' : 'is');
  const says = cut(capitalised(oneLine(said)), cap(120));
  return [end ? [words(`${says}, open for ${span(startedAt, end.at)}.`)] : [words(says), ...asOf(seen.at)]];
}

/** What ended it, as far as that is known; on whose word it is over stands in the strip. */
function endOf(record: IncidentRecord, cap: Cap): Lines {
  const { incident, actions } = record;
  if (incident.state !== 'resolved') return [];
  const repair = incident.resolvedBy === 'confirmed' ? repairOf(actions, incident.round) : undefined;
  const line = (title: string, act: Action): Lines => [
    [bold(title), words(cut(oneLine(describePlan(stepsOf(actions, act), true)), cap(160)))],
    ...decided(record),
  ];
  const hasGone = repair !== undefined && hasFallen(undoneOf(actions, stepsOf(actions, repair)));
  if (repair) return line(hasGone ? 'Was fixed: ' : 'Fixed: ', repair);
  const ran = ranIn(record);
  return ran ? line('Done before: ', ran) : [[words('I changed nothing.')]];
}

/** The last of what ran, or may have, since it last began. */
function ranIn(record: IncidentRecord): Action | undefined {
  const since = Date.parse(openingsOf(record).at(-1)?.startedAt ?? record.incident.openedAt);
  return record.actions.findLast(
    (action) =>
      action.step === 1 &&
      action.undoes === null &&
      Date.parse(action.proposedAt) >= since &&
      stepsOf(record.actions, action).some((step) => step.startedAt !== null && !neverRan(step)),
  );
}

/** What the alert says in a sentence, where that is more than its title and where it is. */
function summaryOf({ incident }: IncidentRecord, cap: Cap): Lines {
  const said = oneLine(incident.annotations['summary'] ?? incident.annotations['description'] ?? '');
  const known = wordsIn(`${incident.title} ${incident.alertName ?? ''} ${incident.target ?? ''}`);
  if ([...wordsIn(said)].every((word) => known.has(word))) return [];
  return [[...(isEnded(incident.state) ? [bold('The alert said: ')] : []), words(cut(said, cap(180)))]];
}

/** Words that say something, `ShopDbIsBlocked` taken apart, whatever their ending. */
const wordsIn = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
      .toLowerCase()
      .match(/[\p{L}\p{N}]{3,}/gu)
      ?.filter((word) => !FILLING.has(word))
      .map((word) => word.replace(/(?:ing|ed|es|s)$/, '')),
  );
const FILLING = new Set(['the', 'are', 'was', 'were', 'has', 'have', 'for', 'and', 'its', 'this', 'that']);

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

/** It fires, and nothing is done about it yet. */
function muted(record: IncidentRecord, cap: Cap): Lines {
  const event = mutedNow(record);
  if (event === null) return [];
  const { at, by, until, reason } = event;
  return [
    [bold('Muted until '), deadline(until, at), words(' by '), ...whoOf(by), ...because(reason, cap(120))],
  ];
}

/** The plan that was proposed last. */
export const newestPlan = ({ actions }: IncidentRecord): Action | undefined =>
  actions.findLast(({ step, beside }) => step === 1 && !beside);

/** Who approved what was proposed last, unless it came to nothing, and against whose No; then who has undone what. */
export function decided(record: IncidentRecord): Lines {
  const plan = newestPlan(record);
  if (!plan?.decidedBy || ['proposed', 'denied', 'expired', 'void'].includes(plan.state))
    return undoneBefore(record, plan);
  const who = plan.decidedBy === 'policy' ? words('the policy') : person(plan.decidedBy);
  const steps = stepsOf(record.actions, plan);
  const noes = [...new Set(overriddenBy(record, steps).map(({ saidBy }) => saidBy))].slice(0, 3);
  const although = noes.length === 0 ? [] : [words(' although '), ...people(noes), words(' had said no')];
  const undone = undoneLine(record, steps);
  return [
    [
      words('Approved by '),
      who,
      ...(plan.decidedAt ? [words(' at '), moment(plan.decidedAt)] : []),
      ...although,
    ],
    ...(undone.length > 0 ? undone : undoneBefore(record, plan)),
  ];
}

/** Of an earlier plan: what was undone is not what is proposed now. */
function undoneBefore({ actions }: IncidentRecord, newest: Action | undefined): Lines {
  const plan = actions.findLast(
    (action) =>
      action.step === 1 && action.undoes === null && undoneOf(actions, stepsOf(actions, action)) !== null,
  );
  if (plan === undefined || plan.planId === newest?.planId) return [];
  const steps = stepsOf(actions, plan);
  const act = cut(oneLine(describePlan(steps, true)), 60);
  return undoneLine({ actions }, steps).map((spans) => [words(`${act}: `), ...spans]);
}

export function nameOf(id: Incident['id'], { threadUrl }: Options): readonly Span[] {
  const url = threadUrl?.(id) ?? null;
  return [url ? link(url, id) : words(id)];
}

export const whoOf = (by: string): readonly Span[] => [
  isSlackUser(by) ? person(by) : words(cut(oneLine(by), 40)),
];
export const because = (reason: string, max: number): readonly Span[] =>
  reason === '' ? [] : [words(`: ${cut(oneLine(reason), max)}`)];
