import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import type { Scheduled } from '../infra/dbos/engine.ts';
import { archiveEpisodes } from '../memory/episodes/episodes.ts';
import { type CompactionDeps, compactAll } from '../memory/rules/compact.ts';
import { lookAtSystems, type ReadSystem } from '../memory/systems/systems.ts';

/** What memory does by the clock, once for all processes: what the targets run, old episodes, rules of thumb. */
export function memoryUpkeep(
  deps: CompactionDeps & {
    readonly sql: Sql;
    readonly targets: Iterable<string>;
    readonly readSystem: ReadSystem;
    /** Older episodes are archived. */
    readonly episodeDays: number;
    /** MEMORY_ENABLED: episodes and systems are kept whatever it says. */
    readonly enabled: boolean;
    readonly log: Log;
  },
): { readonly scheduled: readonly Scheduled[]; readonly lookNow: () => Promise<void> } {
  const lookNow = () => lookAtSystems({ ...deps, read: deps.readSystem });
  return {
    lookNow,
    scheduled: [
      {
        name: 'memory upkeep',
        // Beside the full hour, when everything else has its time.
        cron: '7 * * * *',
        work: async (signal) => {
          await lookNow();
          const archived = await archiveEpisodes(deps.sql, deps.episodeDays);
          if (archived > 0) deps.log.info({ archived }, 'old episodes are archived');
          if (deps.enabled) await compactAll(deps, signal);
        },
      },
    ],
  };
}
