import { storeReading } from '../../actions/proposals/aim.ts';
import type { CriterionReading } from '../../actions/recovery/criterion.ts';
import { type Action, neverRan, stepsOf, undoOf } from '../../core/action.ts';
import { describePlan } from '../../core/describe-act.ts';
import type { Verdict } from '../../core/incident.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { MAX_ROUNDS } from '../../core/machine.ts';
import { isCriterion } from '../../core/tool-call.ts';
import { steadySteps, storedReadings, wentAwayMs } from '../claims/readings.ts';
import { failedRounds } from '../failed-rounds.ts';
import { learn } from '../learn.ts';
import { move, note } from '../move.ts';
import { OVER_BY_ITSELF } from '../next-steps.ts';
import { rememberNow } from '../recall.ts';
import { type Judgement, judgeRecovery } from '../recovery/judge-recovery.ts';
import { sourceName, waitsForSource } from '../source-end.ts';
import { watchForStop } from '../work.ts';
import { askWhatFollows } from './lasting.ts';
import type { PhaseRun } from './phase-run.ts';

/** The reason of a turn that looks once more; each look that decides nothing asks for the next. */
export const LOOK_TURN = 'look again';

/** Between a look and the conclusion from it there is no wait: longer ago is from before a crash. */
const STALE_LOOK_MS = 60_000;

interface Conclusion {
  readonly verdict: Verdict;
  readonly reason: string;
  /** The source says that it is over, and our own check does not say so, or knows of nothing that was done for it. */
  readonly bySource?: boolean;
  /** It is over, and nothing of ours ran. */
  readonly byItself?: boolean;
}

type Look =
  | { readonly wait: Extract<Judgement, { kind: 'wait' }> }
  | { readonly conclusion: Conclusion }
  | 'left';

/** `verifying` → `resolved`, back to `diagnosing`, `reported` or `escalated`. No model: the live system decides. One look a turn. */
export async function verify(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const record = await run.durably('read record', () => deps.records.load(incident.id));
  const last = record?.actions.findLast(
    ({ state, beside }) => ['succeeded', 'failed', 'unknown'].includes(state) && !beside,
  );
  const steps = record && last ? stepsOf(record.actions, last) : [];
  const ran = steps.filter(
    (step) => ['succeeded', 'failed', 'unknown'].includes(step.state) && !neverRan(step),
  );
  // Of a plan that stopped before the step began: what ran before it needs its time to show.
  const action = ran.at(-1) ?? last;
  const seen = await run.durably('look', async (): Promise<Look> => {
    if (!record || !action)
      return { conclusion: { verdict: 'cannot_tell', reason: 'No executed action is on record.' } };
    return lookOnce(run, record, action);
  });
  if (seen === 'left') return rememberNow(run);
  if ('wait' in seen) {
    const { inMs, forSource } = seen.wait;
    await run.durably('look again', async () => {
      if (forSource) await sayWaiting(run, record);
      await deps.jobs.enqueueTurn(incident.id, LOOK_TURN, { delayMs: inMs });
      return true;
    });
    return;
  }
  const { conclusion } = seen;
  if (await isStale(run, action)) {
    // Not durable on purpose: a turn that has concluded already goes its recorded way.
    await deps.jobs.enqueueTurn(incident.id, LOOK_TURN);
    return;
  }
  const failures = failedRounds(record?.events ?? []) + (conclusion.verdict === 'not_fixed' ? 1 : 0);
  for (const step of ran)
    await run.durably(step.step === 1 ? 'episode' : `episode of step ${step.step}`, () =>
      learn(run, step, successOf(step, steps, conclusion)),
    );
  await run.durably('conclude', () => conclude(run, conclusion, failures, steps));
  await rememberNow(run);
}

/** One look, and what all looks since the action say together. */
async function lookOnce(run: PhaseRun, record: IncidentRecord, action: Action): Promise<Look> {
  const { deps, incident } = run;
  const now = await deps.records.incident(incident.id);
  // Stopped, or concluded by a turn that was faster than this one's repetition.
  if (now && (now.state !== 'verifying' || now.round !== incident.round)) return 'left';
  const plan = action.verify;
  if (plan.steps.length === 0)
    return {
      conclusion: { verdict: 'cannot_tell', reason: 'There is no way on record to tell whether it helped.' },
    };
  // It was stopped while it was watched, and taken back then: whatever is seen now, this did not do it.
  if (stepsOf(record.actions, action).some((step) => undoOf(record.actions, step)))
    return { conclusion: { verdict: 'cannot_tell', reason: 'What was to fix it has been taken back.' } };
  const earlier = await storedReadings(deps.sql, action.id, 'watch');
  const last = earlier.at(-1);
  // Somebody else's look of a moment ago has asked for the turn after it: two chains of looks become one.
  if (run.reason === LOOK_TURN && last !== undefined && (await isRecent(run, action, last.at))) return 'left';
  const stop = watchForStop(run);
  const reading = await deps.gate
    .readCriterion({
      incidentId: incident.id,
      target: action.target,
      plan,
      purpose: 'Is it over?',
      signal: stop.signal,
    })
    .finally(stop.end);
  // What was cut off says nothing about the system.
  if (stop.signal.aborted && !deps.shutdown.aborted) return 'left';
  await sayChanged(run, action, last?.holds, reading);
  await storeReading(deps.sql, { incidentId: incident.id, actionId: action.id }, 'watch', reading);
  const readings = await storedReadings(deps.sql, action.id, 'watch');
  const isSourceOver = now?.sourceResolvedAt != null;
  const waitMs =
    action.purpose === 'repair' && !neverRan(action) && waitsForSource(record, deps.confirmation)
      ? deps.confirmation.sourceWaitMs
      : 0;
  const judgement = judgeRecovery({
    plan,
    readings,
    ranAt: action.finishedAt === null ? (readings[0]?.at ?? 0) : Date.parse(action.finishedAt),
    steady: steadySteps(deps.gate, action),
    wentAwayMs: wentAwayMs(deps.gate, record, action),
    neverRan: neverRan(action),
    isSourceOver,
    sourceWaitMs: waitMs,
  });
  if (judgement.kind === 'wait') return { wait: judgement };
  const lines = reading.lines.map((line) => deps.redact(line)).join('; ');
  return {
    conclusion: conclusionOf(judgement, action, {
      lines,
      isSourceOver,
      source: sourceName(record, deps.confirmation),
    }),
  };
}

/**
 * Whether the look that a conclusion rests on is of long ago: this turn was cut off after it and goes on only now. What was
 * seen then must not be stated as what is.
 */
async function isStale({ deps, incident }: PhaseRun, action: Action | undefined): Promise<boolean> {
  if (!action) return false;
  const [row] = await deps.sql<{ stale: boolean | null }>`
    SELECT max(r.at) < clock_timestamp() - ${STALE_LOOK_MS} * interval '1 millisecond' AS stale
      FROM criterion_reading r JOIN incident i ON i.id = r.incident_id
     WHERE r.action_id = ${action.id} AND r.phase = 'watch' AND i.state = 'verifying' AND i.round = ${incident.round}`;
  return row?.stale ?? false;
}

/** By half of the time that the last look was to be followed by. */
async function isRecent({ deps }: PhaseRun, { id, verify }: Action, at: number): Promise<boolean> {
  const [row] = await deps.sql<{ ago_ms: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 - ${at}::float8 AS ago_ms FROM action WHERE id = ${id}`;
  return (row?.ago_ms ?? Number.POSITIVE_INFINITY) < Math.min(500, Math.max(50, verify.holdMs / 2));
}

/** What is seen is said when it changes, not at each look. */
async function sayChanged(
  { deps, incident }: PhaseRun,
  action: Action,
  before: boolean | null | undefined,
  { holds, lines }: CriterionReading,
): Promise<void> {
  if (before === holds) return;
  await note(deps, incident, `checked:${action.id}:${Date.now()}`, {
    type: 'verification.checked',
    round: incident.round,
    holds,
    lines: lines.map((line) => deps.redact(line)),
  });
}

async function sayWaiting({ deps, incident }: PhaseRun, record: IncidentRecord | null): Promise<void> {
  const says = `My own check holds. Waiting for ${record ? sourceName(record, deps.confirmation) : 'the source'} to say that it is over.`;
  await deps.sql`
    UPDATE incident SET next_step = ${says}, updated_at = clock_timestamp()
     WHERE id = ${incident.id} AND state = 'verifying' AND next_step IS DISTINCT FROM ${says}`;
}

interface Seen {
  readonly lines: string;
  readonly isSourceOver: boolean;
  /** Who sent the alert, by name. */
  readonly source: string;
}

function conclusionOf(
  judgement: Exclude<Judgement, { kind: 'wait' }>,
  action: Action,
  seen: Seen,
): Conclusion {
  const { lines, isSourceOver, source } = seen;
  if (judgement.kind === 'recovered' && neverRan(action))
    return {
      verdict: 'cannot_tell',
      ...(isSourceOver ? { bySource: true } : { byItself: true }),
      reason: `It is over, and nothing of mine ran: ${lines}`,
    };
  if (judgement.kind === 'recovered') return recovered(action, judgement.heldMs, lines);
  if (judgement.kind === 'source_fires')
    return {
      verdict: 'cannot_tell',
      reason: `My own check has held for ${seconds(judgement.heldMs)} (${lines}), but ${source} has not said that it is over.`,
    };
  // Whoever sent the alert says so, and our own check does not: it is over, and nobody calls it fixed.
  if (isSourceOver && action.purpose === 'repair')
    return {
      verdict: 'cannot_tell',
      bySource: true,
      reason: `${source} says it is over; my own check does not confirm that: ${lines}`,
    };
  switch (judgement.kind) {
    case 'still_red':
      return {
        verdict: 'not_fixed',
        reason: neverRan(action) ? `It did not run, and it is still so: ${lines}` : `Still so: ${lines}`,
      };
    case 'restarted':
      return {
        verdict: 'not_fixed',
        reason: `It does not stay up: it was started again ${times(judgement.times)} while it was watched. ${lines}`,
      };
    case 'unread':
      return { verdict: 'cannot_tell', reason: `It could not be read: ${lines}` };
  }
}

function recovered(action: Action, heldMs: number, lines: string): Conclusion {
  const held = `${lines} (held for ${seconds(heldMs)})`;
  if (action.purpose === 'prevent') return { verdict: 'done', reason: held };
  // A plan from before criteria were kept shows only that its change took effect.
  if (!isCriterion(action.verify))
    return {
      verdict: 'cannot_tell',
      reason: `It took effect (${held}); nothing on record tells whether it helped.`,
    };
  return { verdict: 'fixed', reason: held };
}

const times = (n: number): string => (n === 1 ? 'once' : `${n} times`);
const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

async function conclude(
  run: PhaseRun,
  { verdict, reason, bySource, byItself }: Conclusion,
  failures: number,
  steps: readonly Action[],
): Promise<unknown> {
  const { deps, incident } = run;
  const concluded = { type: 'verification.concluded', round: incident.round, verdict, reason } as const;
  const key = `verified:${incident.round}`;
  if (verdict === 'fixed' || bySource) {
    const moved = await move(deps, incident, {
      from: 'verifying',
      to: 'resolved',
      reason: bySource ? 'The source says it is over.' : 'Fixed.',
      key,
      changes: { verdict, nextStep: null, resolvedBy: bySource ? 'source' : 'confirmed' },
      events: bySource ? [concluded] : [concluded, { type: 'incident.summary', text: endedBy(steps) }],
      turnAfterMs: null,
    });
    if (!bySource) await askWhatFollows(deps.jobs, incident.id);
    return moved;
  }
  if (verdict === 'done')
    return move(deps, incident, {
      from: 'verifying',
      to: 'reported',
      reason: 'Done as asked.',
      key,
      changes: {
        verdict,
        nextStep: 'Done as asked. It is not to mend what is wrong now.',
      },
      events: [concluded],
      turnAfterMs: null,
    });
  if (byItself)
    return move(deps, incident, {
      from: 'verifying',
      to: 'reported',
      reason: 'Over by itself; nothing was run.',
      key,
      changes: { verdict, nextStep: OVER_BY_ITSELF },
      events: [concluded],
      turnAfterMs: null,
    });
  if (verdict === 'not_fixed' && failures < MAX_ROUNDS)
    return move(deps, incident, {
      from: 'verifying',
      to: 'diagnosing',
      reason: 'Not fixed: looking again, with what was tried.',
      key,
      changes: {
        verdict,
        round: incident.round + 1,
        nextStep: 'Looking for the cause again, knowing what did not help.',
      },
      events: [concluded],
    });
  const why =
    verdict === 'not_fixed'
      ? `Not fixed after ${failures} attempts.`
      : `It cannot be told whether it is fixed: ${reason}`;
  return move(deps, incident, {
    from: 'verifying',
    to: 'escalated',
    reason: why,
    key,
    changes: { verdict, nextStep: 'A person has to take over.' },
    events: [concluded, { type: 'incident.escalated', reason: why }],
    turnAfterMs: null,
  });
}

/**
 * Memory must not learn that a command helped which did not run, or a plan of which only a part did; nor that one did not help
 * which was to help with what never followed it.
 */
function successOf({ state }: Action, steps: readonly Action[], { verdict }: Conclusion): boolean | null {
  const isWhole = steps.every((step) => step.state === 'succeeded');
  if (verdict === 'not_fixed') return isWhole || steps.length === 1 || state === 'failed' ? false : null;
  return verdict === 'fixed' && isWhole ? true : null;
}

/** As people say it: the whole command stands on its card. */
function endedBy(steps: readonly Action[]): string {
  const [first] = steps;
  if (!first) return 'It ended.';
  const acts = (some: readonly Action[]): string => `“${describePlan(some)}”`;
  const ran = steps.filter(({ state }) => state === 'succeeded');
  if (ran.length === steps.length) return `Fixed on ${first.target} by ${acts(steps)}.`;
  const open = steps.filter(({ state }) => state !== 'succeeded');
  const isUnsure = open.some(({ state }) => state === 'unknown');
  const hasFailed = open.some((step) => step.state === 'failed' && !neverRan(step));
  const how = isUnsure ? 'may not have run' : hasFailed ? 'ended as failed' : 'did not run';
  const without = `${acts(open)} on ${first.target} ${how}`;
  return ran.length === 0
    ? `It ended without the fix: ${without}.`
    : `It ended after a part of the plan, ${acts(ran)}: ${without}.`;
}
