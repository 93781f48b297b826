import { messageOf } from '../core/errors.ts';
import { EMPTY_RECALL, type Recall } from '../core/memory.ts';
import { note } from './move.ts';
import type { PhaseRun } from './phases/phase-run.ts';

/** Asks memory and records what it said; a memory that does not answer is said and gone on without. */
export async function recallNow(
  run: PhaseRun,
  when: 'start' | 'triaged',
  incidentType: string | null,
): Promise<Recall> {
  const { deps, incident } = run;
  return run.durably(`recall ${when}`, async () => {
    const recall = await deps.memory.recall(incident, incidentType).catch((error: unknown): Recall => {
      deps.log.warn({ incident: incident.id, error: messageOf(error) }, 'memory could not be asked');
      return { ...EMPTY_RECALL, missing: `Memory could not be asked: ${deps.redact(messageOf(error))}` };
    });
    if (!deps.memory.enabled) return recall;
    await note(deps, incident, `recall:${when}:${incident.round}`, {
      type: 'memory.recalled',
      when,
      incidents: recall.incidents.map(({ incidentId, title, distance, times, ended }) => ({
        incidentId,
        title,
        distance,
        times,
        ended,
      })),
      runbooks: recall.runbooks.map((hit) => hit.runbookId),
      worked: recall.episodes.similar
        .filter((episode) => episode.success === true)
        .map((episode) => episode.command),
      failed: recall.episodes.failedCommands,
      ...(recall.heldBack === undefined ? {} : { heldBack: recall.heldBack }),
      missing: recall.missing,
    });
    return recall;
  });
}

/** Stores the incident as it stands now. Never holds it up: what memory cannot take now waits in its outbox. */
export async function rememberNow(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  await run.durably('remember', async () => {
    const record = await deps.records.load(incident.id);
    if (!record) return false;
    await deps.memory.rememberIncident(record);
    return true;
  });
}
