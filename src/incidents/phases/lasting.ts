import { storeReading } from '../../actions/proposals/aim.ts';
import { type Action, repairOf, stepsOf } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Jobs } from '../../core/jobs.ts';
import { MAX_ROUNDS } from '../../core/machine.ts';
import { isCriterion, type VerifyPlan } from '../../core/tool-call.ts';
import type { IncidentRow } from '../../record/rows.ts';
import { type StoredReading, steadySteps, storedReadings } from '../claims/readings.ts';
import { failedRounds } from '../failed-rounds.ts';
import { learn } from '../learn.ts';
import { BESIDE_TURN, type Move, move } from '../move.ts';
import { rememberNow } from '../recall.ts';
import { criterionOnRecord } from '../recovery/criterion-on-record.ts';
import { hasRestarted } from '../recovery/judge-recovery.ts';
import type { PhaseRun } from './phase-run.ts';

/** The reason of a turn that looks whether a fix has lasted. */
export const LASTING_TURN = 'does it last';
/** How long after *fixed* it is looked at again. */
const LASTING_AFTER_MS = [60_000, 5 * 60_000, 15 * 60_000];

/** Whoever calls an incident fixed asks for what follows: what keeps it from coming back, and the looks whether it has. */
export async function askWhatFollows(jobs: Jobs, id: IncidentId): Promise<true> {
  await jobs.enqueueTurn(id, BESIDE_TURN);
  for (const delayMs of LASTING_AFTER_MS) await jobs.enqueueTurn(id, LASTING_TURN, { delayMs });
  return true;
}

/**
 * Some time after *fixed*: looks whether it has lasted. Where it has not, the incident opens once more, or goes to people when
 * enough was tried, and what was learnt as a success becomes a failure.
 */
export async function lookWhetherItLasts(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  if (incident.state !== 'resolved' || incident.resolvedBy !== 'confirmed') return;
  const found = await run.durably('read action', async () => {
    const record = await deps.records.load(incident.id);
    const action = record && repairOf(record.actions, incident.round);
    if (!record || !action) return null;
    const ran = stepsOf(record.actions, action).filter(({ state }) => state === 'succeeded');
    return { action, ran, failures: failedRounds(record.events) + 1 };
  });
  if (!found || !isCriterion(found.action.verify)) return;
  const { action, ran, failures } = found;
  const back = await run.durably('does it last', () => isBack(run, action));
  if (back === null) return;
  for (const each of ran.length > 0 ? ran : [action])
    await run.durably(`episode of step ${each.step}`, () => learn(run, each, false, 'It did not last.'));
  await run.durably('reopen', () => move(deps, incident, reopening(run, action, back, failures)));
  await rememberNow(run);
}

function reopening({ incident }: PhaseRun, { id }: Action, back: string, failures: number): Move {
  const reason = `It did not last: ${back}`;
  const key = `back:${incident.round}:${id}`;
  // The last word on this round: neither memory nor a policy's earned trust counts it as fixed any more.
  const concluded = {
    type: 'verification.concluded',
    round: incident.round,
    verdict: 'not_fixed',
    reason,
  } as const;
  if (failures < MAX_ROUNDS)
    return {
      from: 'resolved',
      to: 'diagnosing',
      reason,
      key,
      events: [concluded],
      changes: {
        round: incident.round + 1,
        verdict: null,
        nextStep: 'It is back. Looking for the cause again.',
        sourceResolvedAt: null,
      },
    };
  const why = `${reason} Not fixed after ${failures} attempts.`;
  return {
    from: 'resolved',
    to: 'escalated',
    reason: why,
    key,
    events: [concluded, { type: 'incident.escalated', reason: why }],
    changes: {
      verdict: 'not_fixed',
      nextStep: 'It is back, and a person has to take over.',
      sourceResolvedAt: null,
    },
    turnAfterMs: null,
  };
}

/**
 * What two looks since *fixed* found wrong (red, or started again since the look before), with time between them for an alert
 * to tell of it. Null: it lasts, it cannot be told, or a newer incident has it: what began anew says nothing about this fix.
 */
async function isBack(run: PhaseRun, action: Action): Promise<string | null> {
  const { deps, incident } = run;
  const { id } = incident;
  if (await hasOneOfItsOwn(run, action)) return null;
  const reading = await deps.gate.readCriterion({
    incidentId: id,
    target: action.target,
    plan: action.verify,
    purpose: 'Does it last?',
    signal: deps.shutdown,
  });
  await storeReading(deps.sql, { incidentId: id, actionId: action.id }, 'after', reading);
  const looks = await storedReadings(deps.sql, action.id, 'after');
  const fixed = (await storedReadings(deps.sql, action.id, 'watch')).at(-1);
  const wrong = whatIsWrong([fixed, ...looks], steadySteps(deps.gate, action));
  if (!wrong.isNow) return null;
  if (wrong.times >= 2) {
    const lines = deps.redact(reading.lines.join('; '));
    return reading.state === 'red' ? lines : `it was started again more than once since. ${lines}`;
  }
  await deps.jobs.enqueueTurn(id, LASTING_TURN, { delayMs: deps.confirmation.holdMs * 3 });
  return null;
}

/** Whether a newer incident on the target is of the same kind, or is judged by one of the measures that this fix is judged by. */
async function hasOneOfItsOwn({ deps, incident }: PhaseRun, { target, verify }: Action): Promise<boolean> {
  const { id, endedAt, alertName, incidentType } = incident;
  const newer = await deps.sql<Pick<IncidentRow, 'id'> & { alike: boolean | null }>`
    SELECT id, alert_name = ${alertName} OR incident_type = ${incidentType} AS alike FROM incident
     WHERE target = ${target} AND id <> ${id} AND opened_at > ${endedAt}::timestamptz ORDER BY opened_at DESC LIMIT 20`;
  if (newer.some(({ alike }) => alike)) return true;
  const own = new Set(measuredBy(verify));
  for (const { id: newerId } of newer) {
    const record = await deps.records.load(newerId);
    const criterion = record && criterionOnRecord(record);
    if (criterion && measuredBy(criterion).some((measure) => own.has(measure))) return true;
  }
  return false;
}

const measuredBy = ({ steps }: VerifyPlan): readonly string[] =>
  steps.flatMap(({ tool, input, measure }) =>
    measure ? [`${tool} ${canonicalJson(input)} ${measure.name}`] : [],
  );

/** In how many looks something was wrong, and whether it was in the last. The first one is what *fixed* was said by. */
function whatIsWrong(
  [first, ...looks]: readonly [StoredReading | undefined, ...StoredReading[]],
  steady: readonly number[],
): { readonly times: number; readonly isNow: boolean } {
  let known = first?.values ?? [];
  let times = 0;
  let isNow = false;
  for (const look of looks) {
    isNow = look.state === 'red' || hasRestarted({ values: known }, look, steady);
    if (isNow) times += 1;
    // While it is down there is no process to compare with: what comes up then is another one.
    known = look.values.map((value, at) => value ?? known[at] ?? null);
  }
  return { times, isNow };
}
