import { type Action, formatStep, stepAfter } from '../../core/action.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { ledgerHooks } from '../ledger-hooks.ts';
import { move, moveIn } from '../move.ts';
import type { PhaseRun } from './phase-run.ts';

/**
 * `remediating` met by a new turn: the next step of a plan runs, or the run's own turn has moved on, or died. What has begun
 * is settled by looking, never run again.
 */
export async function settleRemediation(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const found = await run.durably('read action', async () => {
    const record = await deps.records.load(incident.id);
    return record && currentOf(record);
  });
  if (!found) {
    // A person was faster and said whether it ran; in any other case the ledger has moved the incident on.
    await run.durably('settled by hand', () =>
      move(deps, incident, {
        from: 'remediating',
        to: 'verifying',
        reason:
          'A person has said whether the fix ran, or that the rest is not to run; the live system decides.',
        key: `settled:${incident.round}`,
        changes: { nextStep: 'Checking on the live system whether it helped.' },
      }),
    );
    return;
  }
  const { action, words } = found;
  const hooks = ledgerHooks(run, action);
  const result = await run.durably('settle', () =>
    action.state === 'queued'
      ? deps.gate.execute(action, hooks, deps.shutdown)
      : deps.gate.settle(action, hooks, deps.shutdown),
  );
  if (result.kind === 'later')
    await run.durably('ask again', () =>
      deps.jobs.enqueueTurn(incident.id, 'settle', { delayMs: Math.max(200, result.inMs) }).then(() => true),
    );
  if (result.kind === 'not_run')
    await run.durably('call off', () => callOff(run, action, words, result.reason));
}

/** What is under way, or the step that is next; null when neither is. */
function currentOf({ actions }: IncidentRecord): { readonly action: Action; readonly words: string } | null {
  const own = actions.filter(({ beside, auditOnly }) => !beside && !auditOnly);
  const open = own.findLast(({ state }) => state === 'started' || state === 'unknown');
  const ended = own.findLast(({ state }) => state === 'succeeded');
  const action = open ?? (ended && stepAfter(actions, ended));
  return action ? { action, words: formatStep(actions, action) } : null;
}

/** The rest of a plan that may not go on; what has run is verified. */
async function callOff({ deps, incident }: PhaseRun, action: Action, words: string, said: string) {
  const reason = deps.redact(said);
  return deps.sql.begin(async (tx) => {
    const skipped = await tx`
      UPDATE action SET state = 'skipped', outcome = ${`Not run: ${reason}`}, finished_at = clock_timestamp()
       WHERE id = ${action.id} AND state = 'queued' RETURNING id`;
    if (skipped.length === 0) {
      // Another process was faster: it has begun the step, and the plan goes on from there.
      await tx`SELECT sentry_enqueue_turn(${incident.id}, 'settle', 200)`;
      return 'lost';
    }
    return moveIn(tx, deps, incident, {
      from: 'remediating',
      to: 'verifying',
      reason: `${words} and what follows it was not run: ${reason}`,
      key: `called off:${action.id}`,
      changes: { nextStep: 'Checking on the live system whether it helped.' },
    });
  });
}
