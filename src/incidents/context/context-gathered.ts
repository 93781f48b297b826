import { type GatheredPart, gatheredIn } from '../../core/context.ts';
import { messageOf } from '../../core/errors.ts';
import { FORGOTTEN } from '../../core/forgotten.ts';
import type { InvestigationDeps } from '../deps.ts';
import { gatherContext } from './gather.ts';
import type { ContextAbout, ContextPart } from './part.ts';

export interface ContextGathering {
  /**
   * Gathers what is around an incident, once a round, and puts it on record; what comes late is recorded when it comes, and is waited
   * for by nobody. Whoever takes over in the same round goes by the same. Never holds a look up: null where it could not be done.
   */
  gathered(deps: InvestigationDeps, about: ContextAbout): Promise<readonly GatheredPart[] | null>;
}

export function createContextGathering(parts: readonly ContextPart[]): ContextGathering {
  /** Rounds whose late parts this process waits for. What one waited for that has died is asked again. */
  const waitedFor = new Set<string>();
  return {
    async gathered(deps, about) {
      const { incident, events } = about.record;
      const round = `${incident.id} ${incident.round}`;
      const known = gatheredIn(events, incident.round);
      const late = (known ?? []).filter(({ state }) => state === 'late').map(({ name }) => name);
      if (known !== null && (late.length === 0 || waitedFor.has(round))) return known;
      const record = async (told: readonly GatheredPart[]): Promise<readonly GatheredPart[]> => {
        const all = known?.map((part) => told.find(({ name }) => name === part.name) ?? part) ?? told;
        const event = { type: 'context.gathered', round: incident.round, parts: all } as const;
        // One word for each number of parts that are still late: whoever knows no more than is on record adds nothing.
        const still = all.filter(({ state }) => state === 'late').length;
        await deps.sql.begin(async (tx) => {
          // It may come after all has been forgotten. The row is locked as by the event itself, so that it is not forgotten meanwhile.
          const [kept] = await tx`
            SELECT FROM incident WHERE id = ${incident.id} AND title <> ${FORGOTTEN} FOR KEY SHARE`;
          if (kept) await deps.records.append(tx, incident.id, event, `context:${incident.round}:${still}`);
        });
        return all;
      };
      const failed = (error: unknown): void =>
        deps.log.warn(
          { incident: incident.id, error: messageOf(error) },
          'could not record what was gathered around it',
        );
      try {
        const asked = known === null ? parts : parts.filter(({ name }) => late.includes(name));
        const { now, later } = await gatherContext(asked, about, deps.redact);
        about.signal.throwIfAborted();
        const told = known ?? (await record(now));
        if (later !== null) {
          waitedFor.add(round);
          later
            .then((all) => (about.signal.aborted ? null : record(all)))
            .catch(failed)
            .finally(() => waitedFor.delete(round));
        } else if (known !== null) return await record(now);
        return told;
      } catch (error) {
        if (about.signal.aborted) throw error;
        failed(error);
        return null;
      }
    },
  };
}
