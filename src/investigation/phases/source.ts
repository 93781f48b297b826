import { move, moveIn } from '../move.ts';
import type { PhaseRun } from '../phase-run.ts';
import { rememberNow } from '../recall.ts';

/** The source says it is over and nothing of ours runs: the incident ends; an open proposal is taken back. */
export async function resolveBySource(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const moved = await run.durably('resolved by source', async () => {
    // Read before the transaction: asking for a second connection while holding one lets a burst of these exhaust the pool.
    const open = await deps.records.load(incident.id);
    return deps.sql.begin(async (tx) => {
      for (const action of open?.actions ?? [])
        if (action.undoes === null && (action.state === 'proposed' || action.state === 'approved'))
          await deps.approvals.void(tx, action, 'The source says the problem is over.');
      return moveIn(tx, deps, incident, {
        from: incident.state,
        to: 'resolved',
        reason: 'The source says it is over.',
        key: `source:${incident.sourceResolvedAt ?? ''}:${incident.state}`,
        changes: { nextStep: null },
        events: [
          { type: 'incident.summary', text: 'Resolved: the source reports that the alert has ended.' },
        ],
        turnAfterMs: null,
      });
    });
  });
  deps.reporter.changed(incident.id);
  if (moved !== 'lost') await rememberNow(run);
}

/** The same alert fired again within its window: the incident goes on in its thread, with a round of its own. */
export async function reopen(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  // Set by accepting, which knows what was said before the end and what after.
  const firedAgain = await run.durably('fired again?', async () => {
    const [row] =
      await deps.sql`SELECT fired_again_at > ended_at AS again FROM incident WHERE id = ${incident.id}`;
    return row?.['again'] === true;
  });
  if (!firedAgain) return;
  await run.durably('reopen', () =>
    move(deps, incident, {
      from: 'resolved',
      to: 'diagnosing',
      reason: 'The same alert fired again.',
      key: `reopen:${incident.round}:${incident.endedAt ?? ''}`,
      changes: {
        round: incident.round + 1,
        verdict: null,
        nextStep: 'Looking for the cause again.',
        sourceResolvedAt: null,
      },
    }),
  );
}
