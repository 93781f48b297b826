import type { IncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import { isEnded, restsUnder } from '../../core/machine.ts';
import type { InvestigationDeps } from '../deps.ts';

/**
 * The incident as it is now. One that is to wait is muted, or rests under another of the same problem, and one that waited and need not
 * any more goes on: with the reading, so that a turn that an earlier version began has the steps it had.
 */
export async function readAsItWaits(deps: InvestigationDeps, id: IncidentId): Promise<Incident | null> {
  const incident = await deps.records.incident(id);
  if (!incident) return null;
  const isMuted = await holdMuted(deps, incident);
  if (isMuted || !(restsUnder(incident.state) || isEnded(incident.state))) return deps.records.incident(id);
  await deps.correlation.hold([id]);
  return deps.records.incident(id);
}

async function holdMuted({ mutes }: InvestigationDeps, { id, state, mutedBy }: Incident): Promise<boolean> {
  if (state !== 'open' && !isEnded(state)) return false;
  const isHeld = (await mutes.hold([id])).has(id);
  if (!isHeld && mutedBy !== null) await mutes.release(id);
  return isHeld;
}

/**
 * Whether nothing is done about it for now: the end of its mute asks for a turn (mutes/mutes.ts), and so does what joins it that the mute
 * is not for.
 */
export const isMuted = ({ state, mutedBy }: Incident): boolean =>
  (state === 'open' || isEnded(state)) && typeof mutedBy === 'string';

/**
 * Whether its alert fired again after its end, and nothing mutes it. Both are asked at one moment: it may have fired after the turn had read
 * the incident, as what was over, and was no matter for a mute then.
 */
export async function goesOnAgain({ sql, mutes }: InvestigationDeps, id: IncidentId): Promise<boolean> {
  // Set by accepting, which knows what was said before the end and what after.
  const [row] = await sql<{ readonly again: boolean | null }>`
    SELECT fired_again_at > ended_at AS again FROM incident WHERE id = ${id}`;
  return row?.again === true && !(await mutes.hold([id])).has(id);
}
/** Whether it rests under another of the same problem: that one's end, or its wait, asks for a turn (prisma/migrations). */
export const restsUnderLead = ({ state, mergedInto }: Incident): boolean =>
  (restsUnder(state) || isEnded(state)) && typeof mergedInto === 'string';
