import type { Action } from '../core/action.ts';
import type { PhaseRun } from './phases/phase-run.ts';

/** Puts on record what became of an action, for the next incident like this one. `success` null: nobody can tell. */
export async function learn(
  { deps, incident }: Pick<PhaseRun, 'deps' | 'incident'>,
  action: Action,
  success: boolean | null,
  besides = '',
): Promise<true> {
  await deps.memory.recordEpisode({
    incidentId: incident.id,
    actionId: action.id,
    error: incident.title,
    diagnosis: incident.cause ?? '',
    command: action.command,
    result: `${action.outcome ?? ''} ${besides}`.trim(),
    success,
  });
  return true;
}
