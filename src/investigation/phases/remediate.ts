import type { PhaseRun } from '../phase-run.ts';
import { ledgerHooks } from './await-approval.ts';

/** `remediating` met by a new turn: the run's own turn has moved on, or died. Settles the action by looking, never by running it again. */
export async function settleRemediation(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const action = await run.durably('read action', async () => {
    const record = await deps.records.load(incident.id);
    return (
      record?.actions.findLast(
        (candidate) => candidate.state === 'started' || candidate.state === 'unknown',
      ) ?? null
    );
  });
  if (!action) return;
  const result = await run.durably('settle', () =>
    deps.gate.settle(action, ledgerHooks(run, action), deps.shutdown),
  );
  deps.reporter.changed(incident.id);
  if (result.kind === 'later')
    await run.durably('ask again', () =>
      deps.jobs.enqueueTurn(incident.id, 'settle', { delayMs: Math.max(200, result.inMs) }).then(() => true),
    );
}
