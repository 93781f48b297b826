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

/** Whether it rests under another of the same problem: that one's end, or its wait, asks for a turn (prisma/migrations). */
export const isMerged = ({ state, mergedInto }: Incident): boolean =>
  (restsUnder(state) || isEnded(state)) && typeof mergedInto === 'string';
