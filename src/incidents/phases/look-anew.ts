import { MAX_ROUNDS } from '../../core/machine.ts';
import { move } from '../move.ts';
import type { PhaseRun } from './phase-run.ts';

/**
 * What a plan was about has gone, or is well, and nobody has seen the problem end: what was found then does not tell what is to
 * blame now, so it is looked for once more. False when that has been done often enough: then
 * people look.
 */
export async function lookAnew({ deps, incident }: PhaseRun, reason: string): Promise<boolean> {
  const { id, state, round } = incident;
  const record = await deps.records.load(id);
  const looks = record?.events.filter((event) => event.type === 'state.changed' && event.to === 'diagnosing');
  if (looks === undefined || looks.length >= MAX_ROUNDS) return false;
  await move(deps, incident, {
    from: state,
    to: 'diagnosing',
    reason: `What was to be mended has changed meanwhile: ${deps.redact(reason)}`,
    key: `anew:${round}`,
    changes: {
      round: round + 1,
      verdict: null,
      nextStep:
        'What was to be mended has changed meanwhile, and nothing was run. Looking for the cause again.',
    },
  });
  return true;
}
