import { type Action, isLastingFix, neverRan, stepsOf } from '../../core/action.ts';
import { callStateOf } from '../../core/calls.ts';
import { capitalised } from '../../core/capitalised.ts';
import { clip } from '../../core/clip.ts';
import { describePlan } from '../../core/describe-act.ts';
import { groupTitle } from '../../core/group.ts';
import type { Incident } from '../../core/incident.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isEnded } from '../../core/machine.ts';
import { isMerged } from '../../core/merged-with.ts';
import { causeTitle, isCauseKnown } from '../../core/model-words.ts';
import { mutedNow } from '../../core/muted-now.ts';
import { overriddenBy } from '../../core/overridden.ts';
import { stepResult, tellingStep } from '../../core/plan-progress.ts';
import { toldChanges } from '../../core/told-changes.ts';
import { formatFixed, formatUndone, undoneOf, undoneRepair } from '../../core/undone.ts';
import { ended, lasted, lower } from '../questions/answer-lines.ts';
import { formatLead } from '../questions/format-changes.ts';
import { formatStanding } from '../questions/format-state.ts';
import type { ReadsRecorded } from '../recovery/recovery-series.ts';
import { closedBy, holderOf, minute, told, who } from './report-lines.ts';
import { formatTrend } from './trend.ts';

/** Characters of what is said of one incident: it is read aloud, by people who are not in the thread. */
export const SITREP = 600;

export interface SitrepOptions {
  readonly now: Date;
  readonly read: ReadsRecorded;
  /** When somebody is called unless somebody takes it, ISO 8601; null: nobody will be. */
  readonly nextCallAt: string | null;
  /** Whom the open card mentioned; absent: it is not known here, or none is open. */
  readonly mentioned?: readonly string[];
}

/** How bad it is, better or worse, who has it, what it waits for, what was tried, and when there is more: from the record alone. */
export function sitrep(record: IncidentRecord, options: SitrepOptions): string {
  const { incident } = record;
  const title = `${incident.id} · ${told(groupTitle(incident), 70)}`;
  if (isEnded(incident.state))
    return fitted(
      [title, badness(incident), overAfter(record)],
      [triedOf(record), causeOf(record), changedOf(record)],
    );
  const trend = formatTrend(record, options.read, options.now) ?? 'Better or worse: nothing was measured.';
  const around = [
    title,
    badness(incident),
    trend,
    holderOf(record, options.mentioned),
    nextOf(record, options),
  ];
  const room = SITREP - around.join('\n').length - 1;
  const [next = '', ...rest] = around.toReversed();
  return fitted(
    [...rest.toReversed(), told(waitingFor(record), Math.min(150, room)), next],
    [causeOf(record), changedOf(record), triedOf(record)],
  );
}

/** With those of `more` that there is room for, before the last three lines: who, what and when are heard last. */
function fitted(lines: readonly string[], more: readonly (string | null)[]): string {
  let room = SITREP - lines.join('\n').length;
  const fits = more.filter((line): line is string => {
    if (line === null || line.length + 1 > room) return false;
    room -= line.length + 1;
    return true;
  });
  const at = Math.max(2, lines.length - 3);
  return clip([...lines.slice(0, at), ...fits, ...lines.slice(at)].join('\n'), SITREP);
}

const overAfter = (record: IncidentRecord): string => {
  const { openedAt, endedAt, resolvedBy, state, detailsDeletedAt } = record.incident;
  const fixed = formatFixed(undoneRepair(record));
  const words = {
    confirmed: fixed === 'fixed' ? 'Fixed, seen by my own check' : `Was ${fixed}`,
    source: 'Over, says the alert’s source',
    person: `Over, ${closedBy(record)}`,
  };
  const how =
    state === 'ignored' ? 'Nothing to investigate' : resolvedBy === null ? 'Over' : words[resolvedBy];
  const gone = detailsDeletedAt === null ? '' : ' Its details were deleted for their age.';
  return endedAt === null
    ? `${how}.${gone}`
    : `${how}, at ${minute(endedAt)}, after ${lasted(openedAt, endedAt)}.${gone}`;
};

/** A list of several: how bad, since when, who has it. */
export function sitrepLine(incident: Incident): string {
  return `${incident.id} · ${incident.severity} · ${told(groupTitle(incident), 70)}: ${lower(formatStanding(incident))}, since ${minute(incident.openedAt)}`;
}

const worst = ['critical', 'error', 'unknown', 'warning', 'info'];

/** What is worst first, and of that the oldest. */
export const worstFirst = (incidents: readonly Incident[]): readonly Incident[] =>
  incidents.toSorted(
    (a, b) => worst.indexOf(a.severity) - worst.indexOf(b.severity) || a.openedAt.localeCompare(b.openedAt),
  );

function badness({ severity, target, openedAt, members, membersFiring, occurrences }: Incident): string {
  const firing =
    members > 1
      ? `, ${membersFiring} of ${members} alerts fire`
      : occurrences > 1
        ? `, fired ${occurrences} times`
        : '';
  return `${severity === 'unknown' ? 'Severity unknown' : capitalised(severity)}, on ${target === null ? 'no system that I know' : told(target, 40)}, since ${minute(openedAt)}${firing}.`;
}

function causeOf({ incident, events }: IncidentRecord): string | null {
  const { cause, confidence } = incident;
  if (cause === null) return null;
  const sure = confidence === null ? '' : ` (${Math.round(confidence * 100)} % sure)`;
  return `${causeTitle({ incident, events })}${told(cause, 100)}${sure}`;
}

/** What was changed before it: while it is open the suspects, in the end only what caused it. */
export function changedOf({ incident, events }: IncidentRecord): string | null {
  const changes = toldChanges(events);
  const line = changes && formatLead(changes, isCauseKnown(events));
  if (line === null || (isEnded(incident.state) && changes?.causes.length === 0)) return null;
  return ended(told(line, 140));
}

/** What it waits for now, or is stuck on. */
export function waitingFor(record: IncidentRecord): string {
  const { incident } = record;
  const asked = openProposal(record);
  if (asked !== undefined)
    return `Waits for a decision: ${told(lower(describePlan(stepsOf(record.actions, asked))), 100)}?`;
  const muted = mutedNow(record);
  if (muted !== null) return `Muted until ${minute(muted.until)}.`;
  if (isMerged(incident)) return `${formatStanding(incident)}.`;
  const next = incident.nextStep === null ? '' : `: ${ended(told(incident.nextStep, 100))}`;
  return next === '' ? `${formatStanding(incident)}.` : `${formatStanding(incident)}${next}`;
}

export const openProposal = ({ actions }: IncidentRecord): Action | undefined =>
  actions.find(({ state, auditOnly, step }) => state === 'proposed' && !auditOnly && step === 1);

/** The last repair that ran, or may have. */
export function triedOf(record: IncidentRecord): string | null {
  const { actions } = record;
  const ran = actions.filter(
    (action) =>
      action.step === 1 &&
      action.purpose === 'repair' &&
      !isLastingFix(action) &&
      action.startedAt !== null &&
      !neverRan(action),
  );
  const last = ran.at(-1);
  if (last === undefined) return 'Tried: nothing was changed.';
  const steps = stepsOf(actions, last);
  const step = tellingStep(steps) ?? last;
  const more = ran.length > 1 ? `; ${ran.length - 1} before it` : '';
  const undone = undoneOf(actions, steps);
  const noes = [...new Set(overriddenBy(record, steps).map(({ saidBy }) => who(saidBy)))].slice(0, 3);
  const although = noes.length === 0 ? '' : ` although ${noes.join(', ')} had said no`;
  const since = undone === null ? '' : `; ${lower(formatUndone(undone, who))}`;
  return `Tried: ${told(lower(describePlan(steps)), 80)} (${told(stepResult(step, steps).says, 40)}${although}${since}${more}).`;
}

/** What is next for certain: never a time that nothing is due at. */
export function nextOf(record: IncidentRecord, { now, nextCallAt }: SitrepOptions): string {
  const { incident, events } = record;
  const asked = openProposal(record);
  const { acknowledged, waitsUntil } = callStateOf(events);
  const holds = acknowledged !== null && acknowledged.how !== 'acted';
  const due: readonly (readonly [at: string | null | undefined, what: string])[] = [
    [asked?.autonomousAt, 'a rule approves it unless somebody says no'],
    [asked?.expiresAt, 'the proposal expires'],
    [incident.asksAgainAt, 'I ask again'],
    [mutedNow(record)?.until, 'the mute ends'],
    [holds ? null : waitsUntil, 'quiet hours end'],
    [holds ? null : nextCallAt, 'people are called unless somebody has it'],
  ];
  const [next] = due
    .flatMap(([at, what]) => (at && Date.parse(at) > now.getTime() ? [{ at, what }] : []))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return next === undefined ? 'Next: no time is set.' : `Next: ${minute(next.at)}, ${next.what}.`;
}
