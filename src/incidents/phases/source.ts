import { type Action, repairOf, stepsOf, undoOf } from '../../core/action.ts';
import type { Incident } from '../../core/incident.ts';
import type { Tx } from '../../core/sql.ts';
import { isCriterion } from '../../core/tool-call.ts';
import { steadySteps, storedReadings, wentAwayMs } from '../claims/readings.ts';
import { learn } from '../learn.ts';
import { move, moveIn } from '../move.ts';
import { rememberNow } from '../recall.ts';
import { hasRestarted, judgeRecovery } from '../recovery/judge-recovery.ts';
import { sourceName } from '../source-end.ts';
import { chooseEffort, restsAgain } from './effort.ts';
import { askWhatFollows } from './lasting.ts';
import { goesOnAgain } from './muted.ts';
import type { PhaseRun } from './phase-run.ts';

/**
 * The source says it is over and nothing of ours runs: the incident ends; an open proposal is taken back. Our own check is
 * read once more and said beside it; only where a repair has held as well is it called fixed.
 */
export async function resolveBySource(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const end = await run.durably('own check', () => ownCheck(run));
  const moved = await run.durably('resolved by source', async () => {
    // Read before the transaction: asking for a second connection while holding one lets a burst of these exhaust the pool.
    const open = await deps.records.load(incident.id);
    const waiting = (open?.actions ?? []).filter(
      ({ beside, state }) => !beside && (state === 'proposed' || state === 'approved'),
    );
    return deps.sql.begin(async (tx) => {
      // In the ledger's order: the actions' rows, then the incident's.
      await tx`SELECT FROM action WHERE id = ANY (${tx.array(waiting.map(({ id }) => id))}::text[]) ORDER BY id FOR UPDATE`;
      if (await firesAgain(tx, incident)) return 'lost';
      for (const action of waiting)
        await deps.approvals.void(tx, action, 'The source says the problem is over.');
      return moveIn(tx, deps, incident, {
        from: incident.state,
        to: 'resolved',
        reason: 'The source says it is over.',
        key: `source:${incident.sourceResolvedAt ?? ''}:${incident.state}`,
        changes: {
          nextStep: null,
          resolvedBy: end.fixedBy ? 'confirmed' : 'source',
          ...(end.fixedBy ? { verdict: 'fixed' } : {}),
        },
        events: [{ type: 'incident.summary', text: end.says }],
        turnAfterMs: null,
      });
    });
  });
  if (moved === 'lost') return;
  const { fixedBy } = end;
  if (fixedBy) {
    const success = fixedBy.every(({ state }) => state === 'succeeded') ? true : null;
    for (const step of fixedBy.filter(({ state }) => state !== 'skipped'))
      await run.durably(`episode of step ${step.step}`, () => learn(run, step, success));
    await run.durably('lasting looks', () => askWhatFollows(deps.jobs, incident.id));
  }
  await rememberNow(run);
}

/**
 * Whether it has fired again since this turn read that it is over: ended now, it would fire with nobody looking. That alert has asked for
 * a turn of its own.
 */
async function firesAgain(tx: Tx, { id, state }: Incident): Promise<boolean> {
  const [now] = await tx<{ readonly fires: boolean }>`
    SELECT source_resolved_at IS NULL AND state = ${state} AS fires FROM incident WHERE id = ${id} FOR NO KEY UPDATE`;
  return now?.fires === true;
}

interface OwnCheck {
  readonly says: string;
  /** The steps of the repair that our own check saw held before the source said so; null: only the source's word ends it. */
  readonly fixedBy: readonly Action[] | null;
}

/** What our own check says when the source calls it over. */
async function ownCheck({ deps, incident }: PhaseRun): Promise<OwnCheck> {
  const record = await deps.records.load(incident.id);
  const over = `Over, says ${record ? sourceName(record, deps.confirmation) : 'the alert’s source'}.`;
  const alone = (says: string): OwnCheck => ({ says, fixedBy: null });
  if (!record || incident.target === null) return alone(over);
  const last = repairOf(record.actions, incident.round);
  // What was taken back, or is about to be, fixes nothing.
  const steps = last ? stepsOf(record.actions, last) : [];
  const ran = steps.some((step) => undoOf(record.actions, step)) ? undefined : last;
  const diagnosed = record.events.findLast((event) => event.type === 'diagnosis.concluded');
  const plan = ran && isCriterion(ran.verify) ? ran.verify : diagnosed?.diagnosis.criterion;
  if (plan === undefined) return alone(over);
  const reading = await deps.gate.readCriterion({
    incidentId: incident.id,
    target: incident.target,
    plan,
    purpose: 'Is it over?',
    signal: deps.shutdown,
  });
  const lines = deps.redact(reading.lines.join('; '));
  if (reading.state === 'unread') return alone(`${over} My own check could not be read: ${lines}`);
  if (reading.holds !== true) return alone(`${over} My own check does not confirm it: ${lines}`);
  if (!ran || !isCriterion(ran.verify)) return alone(`${over} My own check agrees: ${lines}`);
  const steady = steadySteps(deps.gate, ran);
  const readings = await storedReadings(deps.sql, ran.id, 'watch');
  const before = readings.at(-1);
  const held = judgeRecovery({
    plan: ran.verify,
    readings,
    ranAt: Date.parse(ran.finishedAt ?? ''),
    steady,
    wentAwayMs: wentAwayMs(deps.gate, record, ran),
    neverRan: false,
    isSourceOver: true,
    sourceWaitMs: 0,
  });
  return held.kind === 'recovered' && before && !hasRestarted(before, reading, steady)
    ? { says: `${over} My own check had held before: ${lines}`, fixedBy: steps }
    : alone(`${over} My own check agrees: ${lines}`);
}

/** The same alert fired again within its window: the incident goes on in its thread, with a round of its own. */
export async function reopen(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const firedAgain = await run.durably('fired again?', () => goesOnAgain(deps, incident.id));
  if (!firedAgain) return;
  await run.durably('reopen', async () => {
    const chosen = await chooseEffort(run);
    if (await restsAgain(run, chosen)) return 'rests';
    // *Dig deeper* was for what was then.
    const effort = chosen?.effort ?? (incident.effort === 'full' ? 'adaptive' : undefined);
    return move(deps, incident, {
      from: 'resolved',
      to: 'diagnosing',
      reason: `Its alert fired again (${incident.occurrences} times by now).`,
      key: `reopen:${incident.round}:${incident.endedAt ?? ''}`,
      changes: {
        ...(effort ? { effort } : {}),
        round: incident.round + 1,
        verdict: null,
        nextStep: 'Looking for the cause again.',
        sourceResolvedAt: null,
      },
    });
  });
}
