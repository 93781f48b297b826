import type { ExecutionResult, LedgerHooks } from '../../actions/ledger/execution.ts';
import { type Action, isLastingFix } from '../../core/action.ts';
import type { ActionId } from '../../core/ids.ts';
import type { Tx } from '../../core/sql.ts';
import type { ActionRow } from '../../record/rows.ts';
import { hasOpenSuccessor } from '../investigate.ts';
import { learn } from '../learn.ts';
import { endOfStep } from '../ledger-hooks.ts';
import { BESIDE_TURN, move } from '../move.ts';
import { rememberNow } from '../recall.ts';
import { triedIn } from '../tried-in.ts';
import { LASTING_TURN } from './lasting.ts';
import { isStillFixed, lookAtEffect, proposeLastingFix } from './lasting-fix.ts';
import type { PhaseRun } from './phase-run.ts';

/**
 * A turn of its own for what a person takes back, and for what is to keep a problem that is fixed from coming back: both run
 * beside the incident's course, which stays where it is. Turns of one incident run one after another, so nothing else of it
 * runs meanwhile; of other incidents the ledger takes care.
 */
export async function goOnBeside(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  await proposeLastingFix(run);
  // All of them, the oldest first: nobody comes for one again because of another. Where looking could not tell how one
  // ended, it is for people, and is not looked at again and again while it keeps another waiting. What a person has then
  // said to have run is followed like any other.
  const open = await run.durably('read undos', async () => {
    const rows = await deps.sql<Pick<ActionRow, 'id'>>`
      SELECT id FROM action a WHERE incident_id = ${incident.id} AND beside AND NOT (audit_only AND undoes IS NULL)
         AND (state IN ('proposed', 'approved', 'started')
              OR state = 'queued' AND EXISTS (SELECT FROM action b WHERE b.plan_id = a.plan_id AND b.step = a.step - 1
                                                 AND b.state = 'succeeded')
              -- What is done is looked for, after its last step.
              OR state = 'succeeded' AND undoes IS NULL
                 AND NOT EXISTS (SELECT FROM action b WHERE b.plan_id = a.plan_id AND b.step > a.step)
                 AND NOT EXISTS (SELECT FROM event e WHERE e.incident_id = a.incident_id AND e.dedupe_key = 'effect:' || a.id)
              OR state = 'succeeded' AND undoes IS NOT NULL AND EXISTS (
                SELECT FROM event e WHERE e.incident_id = a.incident_id AND e.dedupe_key = 'settled:' || a.id)
              OR state = 'unknown' AND (
               finished_at IS NULL OR finished_at <= done_by OR NOT EXISTS (
                 SELECT FROM action o WHERE o.incident_id = a.incident_id AND o.beside AND o.state = 'approved')))
       ORDER BY proposed_at, step`;
    return rows.map(({ id }) => id);
  });
  for (const id of open) await goOnWith(run, id);
}

async function goOnWith(run: PhaseRun, id: ActionId): Promise<void> {
  const { deps, incident } = run;
  const action = await run.durably(`read undo ${id}`, () => deps.records.action(id));
  if (!action) return;
  if (action.state === 'proposed') {
    await run.durably(`expire undo ${id}`, () => deps.approvals.expire(id));
    return;
  }
  if (action.state === 'succeeded' && isLastingFix(action)) return lookAtEffect(run, action);
  if (action.state === 'succeeded') {
    await run.durably(`taken back ${id}`, () => deps.sql.begin((tx) => takenBack(tx, run, action)));
    return looksBack(run, action);
  }
  const result = await run.durably(`execute undo ${id}`, () =>
    deps.gate.execute(action, besideHooks(run, action), deps.shutdown),
  );
  if (result.kind === 'later')
    await run.durably(`ask again ${id}`, () =>
      deps.jobs
        .enqueueTurn(incident.id, BESIDE_TURN, { delayMs: Math.max(200, result.inMs) })
        .then(() => true),
    );
  if (result.kind === 'not_run')
    await run.durably(`not run ${id}`, async () => {
      await deps.sql.begin(async (tx) => {
        if (action.step === 1) await deps.approvals.void(tx, action, deps.redact(result.reason));
        else
          await tx`
            UPDATE action SET state = 'skipped', finished_at = clock_timestamp(),
                   outcome = ${`Not run: ${deps.redact(result.reason)}`}
             WHERE id = ${id} AND state = 'queued'`;
      });
      return true;
    });
  if (isLastingFix(action)) return afterLastingFix(run, action, result);
  // It may have run: whether what was fixed still is, the live system says.
  if (result.kind === 'ran' && result.outcome.kind === 'unknown')
    await run.durably(`look after ${id}`, () =>
      deps.jobs.enqueueTurn(incident.id, LASTING_TURN).then(() => true),
    );
  const hasEnded = result.kind === 'ran' ? result.outcome.kind !== 'unknown' : result.kind === 'not_run';
  if (hasEnded) await looksBack(run, action);
}

async function afterLastingFix(run: PhaseRun, action: Action, result: ExecutionResult): Promise<void> {
  const { deps, incident } = run;
  // As after any approval that no longer fits: it is asked for as things are now.
  if (result.kind === 'not_run' && result.why === 'void')
    await run.durably(`ask anew ${action.id}`, () =>
      deps.jobs.enqueueTurn(incident.id, BESIDE_TURN).then(() => true),
    );
  if (result.kind !== 'ran' || result.outcome.kind !== 'succeeded') return;
  const steps = await run.durably(`read plan ${action.planId}`, () => deps.records.plan(action.planId));
  if (steps.at(-1)?.id === action.id) await lookAtEffect(run, action);
}

/** Once nothing more of it is to run: what was taken back is neither learnt nor counted on any more. */
async function looksBack(run: PhaseRun, { planId }: Action): Promise<void> {
  const steps = await run.durably(`read undo plan ${planId}`, () => run.deps.records.plan(planId));
  if (steps.some(({ state }) => state === 'queued')) return;
  for (const step of steps.filter(({ state }) => state === 'succeeded')) {
    await unlearn(run, step);
    await reopen(run, step);
  }
}

function besideHooks({ incident, deps }: PhaseRun, action: Action): LedgerHooks {
  const { id } = action;
  return {
    async claimed(tx) {
      if (isLastingFix(action) && action.step === 1 && !(await isStillFixed(tx, action))) return 'lost';
      await deps.records.append(tx, incident.id, { type: 'action.started', actionId: id }, `claimed:${id}`);
      // Should this process die now, this turn comes and settles it.
      await tx`SELECT sentry_enqueue_turn(${incident.id}, ${BESIDE_TURN}, 1000)`;
      return undefined;
    },
    async released(tx) {
      // Whoever stopped the incident meanwhile was told that what had begun ends: it does not begin again.
      const going = await tx`SELECT 1 FROM incident WHERE id = ${incident.id} AND state <> 'stopped'`;
      return going.length > 0 ? undefined : 'lost';
    },
    async ended(tx, { kind, text }) {
      const event = { type: 'action.finished', actionId: id, outcome: kind, text } as const;
      await deps.records.append(tx, incident.id, event, `ended:${id}:${kind}`);
      if ((await endOfStep(tx, action, { kind, text })).isGoingOn)
        await tx`SELECT sentry_enqueue_turn(${incident.id}, ${BESIDE_TURN}, 0)`;
      if (kind === 'succeeded' && action.undoes !== null) await takenBack(tx, { incident }, { id });
    },
  };
}

/** Said once for each undo: what came after it has its own next step. */
async function takenBack(
  tx: Tx,
  { incident }: Pick<PhaseRun, 'incident'>,
  { id }: Pick<Action, 'id'>,
): Promise<true> {
  await tx`
    UPDATE incident i SET verdict = CASE WHEN u.lasting THEN i.verdict END,
           next_step = CASE WHEN u.lasting THEN 'What was to keep it from coming back has been taken back.'
             ELSE 'What was changed has been taken back; if the problem is back, its alert has it looked at again.' END
      FROM (SELECT o.beside AND o.undoes IS NULL AS lasting
              FROM action a JOIN action o ON o.id = a.undoes WHERE a.id = ${id}) u
     WHERE i.id = ${incident.id} AND state IN ('reported', 'escalated', 'resolved')
       AND NOT EXISTS (SELECT FROM event e JOIN action a ON a.id = ${id}
                        WHERE e.incident_id = i.id AND e.type = 'state.changed' AND e.at > a.finished_at)`;
  return true;
}

/** What made the incident green is gone again: it is looked at once more, whether or not its alert fires. */
async function reopen({ deps, incident, durably }: PhaseRun, { id, undoes }: Action): Promise<void> {
  if (incident.state !== 'resolved' || incident.resolvedBy !== 'confirmed') return;
  await durably(`reopen after ${id}`, async () => {
    const undone = undoes && (await deps.records.action(undoes));
    if (!undone || undone.purpose !== 'repair') return 'left';
    const [since] = await deps.sql<{ undone: boolean | null }>`
      SELECT i.ended_at < a.finished_at AS undone FROM incident i JOIN action a ON a.id = ${id} WHERE i.id = ${incident.id}`;
    // What has been called fixed since then was so without it.
    if (!since?.undone) return 'left';
    // Its alert has fired again meanwhile, and is looked into there.
    if (await hasOpenSuccessor(deps.sql, incident)) return 'left';
    return move(deps, incident, {
      from: 'resolved',
      to: 'diagnosing',
      reason: 'What had fixed it has been taken back.',
      key: `undone:${id}`,
      changes: {
        round: incident.round + 1,
        verdict: null,
        nextStep: 'What had fixed it has been taken back. Looking whether the problem is there again.',
        sourceResolvedAt: null,
      },
    });
  });
}

/** What a person took back helped nobody in the end, and was not seen to fail either, unless it was. */
async function unlearn(run: PhaseRun, { id, undoes }: Action): Promise<void> {
  const { deps, incident } = run;
  await run.durably(`episode of what ${id} took back`, async () => {
    const record = await deps.records.load(incident.id);
    const undone = record && triedIn(record).find((action) => action.id === undoes);
    // What only keeps a problem away was never tried as its remedy.
    if (!undone || undone.beside) return true;
    return learn(run, undone, undone.verdict === 'not_fixed' ? false : null, 'A person took it back.');
  });
  await rememberNow(run);
}
