import { type Action, stepsOf } from '../../domain/action.ts';
import { isCriterion } from '../../domain/tool-call.ts';
import { storeReading } from '../../gate/aim.ts';
import { learn } from '../learn.ts';
import { move } from '../move.ts';
import type { PhaseRun } from '../phase-run.ts';
import { rememberNow } from '../recall.ts';

/** The reason of a turn that looks whether a fix has lasted. */
export const LASTING_TURN = 'does it last';

/**
 * Some time after *fixed*: looks whether it has lasted. Red again opens the incident once more, and what was learnt as a
 * success becomes a failure.
 */
export async function lookWhetherItLasts(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  if (incident.state !== 'resolved' || incident.resolvedBy !== 'confirmed') return;
  const ran = await run.durably('read actions', async () => {
    const record = await deps.records.load(incident.id);
    const last = record?.actions.findLast(
      ({ purpose, state, round }) =>
        purpose === 'repair' && state === 'succeeded' && round === incident.round,
    );
    return last && record ? stepsOf(record.actions, last).filter(({ state }) => state === 'succeeded') : [];
  });
  const action = ran.at(-1);
  if (!action || !isCriterion(action.verify)) return;
  const back = await run.durably('does it last', () => redAgain(run, action));
  if (back === null) return;
  for (const each of ran)
    await run.durably(`episode of step ${each.step}`, () => learn(run, each, false, 'It did not last.'));
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

/**
 * What two looks show red, with time between them for an alert to tell of it; null: it lasts, it cannot be told, or a newer
 * incident on the target has it: what began anew says nothing about this fix.
 */
async function redAgain({ deps, incident }: PhaseRun, action: Action): Promise<string | null> {
  const { id, endedAt } = incident;
  const [seen] = await deps.sql`
    SELECT EXISTS (SELECT FROM incident i WHERE i.target = ${action.target} AND i.id <> ${id}
                      AND i.opened_at > ${endedAt}::timestamptz) AS newer,
           (SELECT state = 'red' FROM criterion_reading WHERE action_id = ${action.id} AND phase = 'after'
             ORDER BY id DESC LIMIT 1) AS red_before`;
  if (seen?.['newer'] === true) return null;
  const reading = await deps.gate.readCriterion({
    incidentId: id,
    target: action.target,
    plan: action.verify,
    purpose: 'Does it last?',
    signal: deps.shutdown,
  });
  await storeReading(deps.sql, { incidentId: id, actionId: action.id }, 'after', reading);
  if (reading.state !== 'red') return null;
  if (seen?.['red_before'] === true) return deps.redact(reading.lines.join('; '));
  await deps.jobs.enqueueTurn(id, LASTING_TURN, { delayMs: deps.confirmation.holdMs * 3 });
  return null;
}
