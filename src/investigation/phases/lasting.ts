import { setTimeout as sleep } from 'node:timers/promises';
import type { Action } from '../../domain/action.ts';
import { isCriterion } from '../../domain/tool-call.ts';
import { learn } from '../learn.ts';
import { move } from '../move.ts';
import type { PhaseRun } from '../phase-run.ts';
import { addReading } from '../readings.ts';
import { rememberNow } from '../recall.ts';

/** One red look may be a moment's; a second one after this long is not. */
const SECOND_LOOK_MS = 5_000;

/**
 * Some time after *fixed*: looks whether it has lasted. Red again opens the incident once more, and what was learnt as a
 * success becomes a failure.
 */
export async function lookWhetherItLasts(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  if (incident.state !== 'resolved' || incident.resolvedBy !== 'confirmed') return;
  const action = await run.durably('read action', async () => {
    const record = await deps.records.load(incident.id);
    return (
      record?.actions.findLast(
        ({ purpose, state, round }) =>
          purpose === 'repair' && state === 'succeeded' && round === incident.round,
      ) ?? null
    );
  });
  if (!action || !isCriterion(action.verify)) return;
  const back = await run.durably('does it last', () => redAgain(run, action));
  if (back === null) return;
  await run.durably('episode', () => learn(run, action, false, 'It did not last.'));
  await run.durably('reopen', () =>
    move(deps, incident, {
      from: 'resolved',
      to: 'diagnosing',
      reason: `It did not last: ${back}`,
      key: `back:${incident.round}:${action.id}`,
      // The last word on this round: neither memory nor a policy's earned trust counts it as fixed any more.
      events: [
        {
          type: 'verification.concluded',
          round: incident.round,
          verdict: 'not_fixed',
          reason: `It did not last: ${back}`,
        },
      ],
      changes: {
        round: incident.round + 1,
        verdict: null,
        nextStep: 'It is back. Looking for the cause again.',
        sourceResolvedAt: null,
      },
    }),
  );
  await rememberNow(run);
}

/** What two looks in a row show red; null: it lasts, or cannot be told. */
async function redAgain({ deps, incident }: PhaseRun, action: Action): Promise<string | null> {
  for (let look = 0; look < 2; look += 1) {
    if (look > 0) await sleep(SECOND_LOOK_MS, undefined, { signal: deps.shutdown });
    const reading = await deps.gate.readCriterion({
      incidentId: incident.id,
      target: action.target,
      plan: action.verify,
      purpose: 'Does it last?',
      signal: deps.shutdown,
    });
    await addReading(deps.sql, { incidentId: incident.id, actionId: action.id }, 'after', reading);
    if (reading.state !== 'red') return null;
    if (look === 1) return deps.redact(reading.lines.join('; '));
  }
  return null;
}
