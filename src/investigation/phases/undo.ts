import type { Action } from '../../domain/action.ts';
import { type ActionId, asActionId } from '../../domain/ids.ts';
import type { LedgerHooks } from '../../gate/execute.ts';
import { learn } from '../learn.ts';
import { endOfStep } from '../ledger-hooks.ts';
import { move } from '../move.ts';
import type { PhaseRun } from '../phase-run.ts';
import { rememberNow } from '../recall.ts';

/** The reason of a turn that does nothing else. */
export const UNDO_TURN = 'undo';

/**
 * A turn of its own for what a person takes back: it runs beside the incident's course, which stays where it is. Turns of
 * one incident run one after another, so nothing else of it runs meanwhile; of other incidents the ledger takes care.
 */
export async function undo(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  // All of them, the oldest first: nobody comes for one again because of another. Where looking could not tell how one
  // ended, it is for people, and is not looked at again and again while it keeps another waiting.
  const open = await run.durably('read undos', async () => {
    const rows = await deps.sql`
      SELECT id FROM action a WHERE incident_id = ${incident.id} AND undoes IS NOT NULL
         AND (state IN ('proposed', 'approved', 'started')
              OR state = 'queued' AND EXISTS (SELECT FROM action b WHERE b.plan_id = a.plan_id AND b.step = a.step - 1
                                                 AND b.state = 'succeeded')
              OR state = 'unknown' AND (
               finished_at IS NULL OR finished_at <= done_by OR NOT EXISTS (
                 SELECT FROM action o WHERE o.incident_id = a.incident_id AND o.undoes IS NOT NULL AND o.state = 'approved')))
       ORDER BY proposed_at, step`;
    return rows.map((row) => asActionId(String(row['id'])));
  });
  for (const id of open) await goOnWith(run, id);
}

async function goOnWith(run: PhaseRun, id: ActionId): Promise<void> {
  const { deps, incident } = run;
  const action = await run.durably(`read undo ${id}`, () => deps.records.action(id));
  if (!action) return;
  if (action.state === 'proposed') {
    await run.durably(`expire undo ${id}`, () => deps.approvals.expire(id));
    return deps.reporter.changed(incident.id);
  }
  const result = await run.durably(`execute undo ${id}`, () =>
    deps.gate.execute(action, undoHooks(run, action), deps.shutdown),
  );
  if (result.kind === 'later')
    await run.durably(`ask again ${id}`, () =>
      deps.jobs.enqueueTurn(incident.id, UNDO_TURN, { delayMs: Math.max(200, result.inMs) }).then(() => true),
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
  deps.reporter.changed(incident.id);
  const hasEnded = result.kind === 'ran' ? result.outcome.kind !== 'unknown' : result.kind === 'not_run';
  if (hasEnded) await looksBack(run, action);
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

function undoHooks({ incident, deps }: PhaseRun, action: Action): LedgerHooks {
  const { id } = action;
  return {
    async claimed(tx) {
      await deps.records.append(tx, incident.id, { type: 'action.started', actionId: id }, `claimed:${id}`);
      // Should this process die now, this turn comes and settles it.
      await tx`SELECT sentry_enqueue_turn(${incident.id}, ${UNDO_TURN}, 1000)`;
      return undefined;
    },
    async ended(tx, { kind, text }) {
      const event = { type: 'action.finished', actionId: id, outcome: kind, text } as const;
      await deps.records.append(tx, incident.id, event, `ended:${id}:${kind}`);
      if ((await endOfStep(tx, action, { kind, text })).isGoingOn)
        await tx`SELECT sentry_enqueue_turn(${incident.id}, ${UNDO_TURN}, 0)`;
      if (kind === 'succeeded')
        await tx`
          UPDATE incident SET verdict = NULL,
                 next_step = 'What was changed has been taken back; if the problem is back, its alert has it looked at again.'
           WHERE id = ${incident.id} AND state IN ('reported', 'escalated', 'resolved')`;
    },
  };
}

/** What made the incident green is gone again: it is looked at once more, whether or not its alert fires. */
async function reopen({ deps, incident, durably }: PhaseRun, { id, undoes }: Action): Promise<void> {
  if (incident.state !== 'resolved' || incident.resolvedBy !== 'confirmed') return;
  await durably(`reopen after ${id}`, async () => {
    const undone = undoes && (await deps.records.action(undoes));
    if (!undone || undone.purpose !== 'repair') return 'left';
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

/** What a person took back did not help, whatever the verification saw. */
async function unlearn(run: PhaseRun, { id, undoes }: Action): Promise<void> {
  const { deps } = run;
  await run.durably(`episode of what ${id} took back`, async () => {
    const undone = undoes && (await deps.records.action(undoes));
    return undone ? learn(run, undone, false, 'A person took it back.') : true;
  });
  await rememberNow(run);
}
