import type { Action } from '../../domain/action.ts';
import { asActionId } from '../../domain/ids.ts';
import type { LedgerHooks } from '../../gate/execute.ts';
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
  const action = await run.durably('read undo', async () => {
    const [row] = await deps.sql`
      SELECT id FROM action WHERE incident_id = ${incident.id} AND undoes IS NOT NULL
         AND state IN ('proposed', 'approved', 'started', 'unknown') ORDER BY proposed_at DESC LIMIT 1`;
    return row ? deps.records.action(asActionId(String(row['id']))) : null;
  });
  if (!action) return;
  if (action.state === 'proposed') {
    await run.durably('expire undo', () => deps.approvals.expire(action.id));
    return deps.reporter.changed(incident.id);
  }
  const result = await run.durably('execute undo', () =>
    deps.gate.execute(action, undoHooks(run, action), deps.shutdown),
  );
  if (result.kind === 'later')
    await run.durably('ask again', () =>
      deps.jobs.enqueueTurn(incident.id, UNDO_TURN, { delayMs: Math.max(200, result.inMs) }).then(() => true),
    );
  if (result.kind === 'not_run')
    await run.durably('not run', async () => {
      await deps.sql.begin((tx) => deps.approvals.void(tx, action, deps.redact(result.reason)));
      return true;
    });
  deps.reporter.changed(incident.id);
  if (result.kind === 'ran' && result.outcome.kind === 'succeeded') await unlearn(run, action);
}

function undoHooks({ incident, deps }: PhaseRun, { id }: Action): LedgerHooks {
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
      if (kind === 'succeeded')
        await tx`
          UPDATE incident SET verdict = NULL,
                 next_step = 'What was changed has been taken back; if the problem is back, its alert has it looked at again.'
           WHERE id = ${incident.id} AND state IN ('reported', 'escalated', 'resolved')`;
    },
  };
}

/** What a person took back did not help, whatever the verification saw. */
async function unlearn(run: PhaseRun, { undoes }: Action): Promise<void> {
  const { deps, incident } = run;
  await run.durably('episode of what was undone', async () => {
    const undone = undoes && (await deps.records.action(undoes));
    if (undone)
      await deps.memory.recordEpisode({
        incidentId: incident.id,
        actionId: undone.id,
        error: incident.title,
        diagnosis: incident.cause ?? '',
        command: undone.command,
        result: `${undone.outcome ?? ''} A person took it back.`.trim(),
        success: false,
      });
    return true;
  });
  await rememberNow(run);
}
