import { move } from '../move.ts';
import type { PhaseRun } from '../phase-run.ts';
import { ledgerHooks } from './await-approval.ts';

/** `remediating` met by a new turn: the run's own turn has moved on, or died. Settles the action by looking, never by running it again. */
export async function settleRemediation(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const action = await run.durably('read action', async () => {
    const record = await deps.records.load(incident.id);
    return (
      record?.actions.findLast(
        ({ state, undoes }) => (state === 'started' || state === 'unknown') && undoes === null,
      ) ?? null
    );
  });
  if (!action) {
    // A person was faster and said whether it ran; in any other case the ledger has moved the incident on.
    await run.durably('settled by hand', () =>
      move(deps, incident, {
        from: 'remediating',
        to: 'verifying',
        reason: 'A person has said whether the fix ran; the live system decides.',
        key: `settled:${incident.round}`,
        changes: { nextStep: 'Checking on the live system whether it helped.' },
      }),
    );
    return;
  }
  const result = await run.durably('settle', () =>
    deps.gate.settle(action, ledgerHooks(run, action), deps.shutdown),
  );
  deps.reporter.changed(incident.id);
  if (result.kind === 'later')
    await run.durably('ask again', () =>
      deps.jobs.enqueueTurn(incident.id, 'settle', { delayMs: Math.max(200, result.inMs) }).then(() => true),
    );
}
