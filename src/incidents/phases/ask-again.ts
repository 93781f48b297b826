import { ASK_AGAIN_TURN, move } from '../move.ts';
import { LIMIT_OVER_UNREAD, OVER_BY_ITSELF } from '../next-steps.ts';
import { criterionOnRecord } from '../recovery/criterion-on-record.ts';
import type { PhaseRun } from './phase-run.ts';

/**
 * The limit is over that kept the fix back: `reported` → `planning`, if the incident still waits for that and its symptom is
 * still there. Else it says what has become of it, and asks for nothing.
 */
export async function askAgain(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  // Any move since (a hint, a stop, an end) has cleared it; a later limit has a turn of its own.
  if (incident.state !== 'reported' || incident.asksAgainAt === null) return;
  const { asksAgainAt } = incident;
  const isDue = await run.durably('is it time?', async () => {
    const [row] = await deps.sql<{ left_ms: number }>`
      SELECT (extract(epoch FROM ${asksAgainAt}::timestamptz - clock_timestamp()) * 1000)::float8 AS left_ms`;
    const leftMs = Math.ceil(row?.left_ms ?? 0);
    // The database's clock decides; whoever woke this turn may go by another.
    if (leftMs > 0) await deps.jobs.enqueueTurn(incident.id, ASK_AGAIN_TURN, { delayMs: leftMs });
    return leftMs <= 0;
  });
  if (!isDue) return;
  const symptom = await run.durably('is it still there?', () => readSymptom(run));
  if (symptom === 'green') return leave(run, OVER_BY_ITSELF);
  if (symptom === 'unread') return leave(run, LIMIT_OVER_UNREAD);
  await run.durably('ask again', () =>
    move(deps, incident, {
      from: 'reported',
      to: 'planning',
      reason: 'The limit is over, and the problem is still there.',
      key: `limit over:${incident.round}:${asksAgainAt}`,
      changes: { nextStep: 'Asking again for the fix that a limit had kept back.' },
    }),
  );
}

/** `red` as well where there is nothing to read: what only prevents is asked for again as it was before. */
async function readSymptom({ deps, incident }: PhaseRun): Promise<'red' | 'green' | 'unread'> {
  const record = await deps.records.load(incident.id);
  const plan = record && criterionOnRecord(record);
  if (!plan || incident.target === null) return 'red';
  const { state } = await deps.gate.readCriterion({
    incidentId: incident.id,
    target: incident.target,
    plan,
    purpose: 'Is the problem still there?',
    signal: deps.shutdown,
  });
  return state;
}

/** It stays reported, and says why nothing comes by itself any more. */
async function leave({ deps, incident, durably }: PhaseRun, nextStep: string): Promise<void> {
  await durably('leave it', async () => {
    await deps.sql`
      UPDATE incident SET next_step = ${nextStep}, asks_again_at = NULL, updated_at = clock_timestamp()
       WHERE id = ${incident.id} AND state = 'reported' AND round = ${incident.round}
         AND asks_again_at IS NOT NULL`;
    return true;
  });
}
