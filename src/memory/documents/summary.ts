import type { Sql } from '../../core/sql.ts';
import { listSystems, type TargetSystem } from '../systems/systems.ts';

export interface MemorySummary {
  readonly episodes: {
    readonly total: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly unknown: number;
    /** Of the total: too old to be looked up. */
    readonly archived: number;
  };
  /** By store scope and trust. Retired ones are not counted. */
  readonly documents: readonly { readonly scope: string; readonly trust: string; readonly count: number }[];
  readonly versions: number;
  readonly proposalsWaiting: number;
  /** What the targets run. */
  readonly systems: readonly TargetSystem[];
  /** What has not reached Chroma, or not left it, yet. */
  readonly outbox: number;
}

export async function memorySummary(sql: Sql): Promise<MemorySummary> {
  const systems = await listSystems(sql);
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const [episodes] = await tx<MemorySummary['episodes']>`
      SELECT count(*) AS total, count(*) FILTER (WHERE success) AS succeeded,
             count(*) FILTER (WHERE NOT success) AS failed, count(*) FILTER (WHERE success IS NULL) AS unknown,
             count(*) FILTER (WHERE archived_at IS NOT NULL) AS archived
      FROM episode`;
    const documents = await tx<MemorySummary['documents'][number]>`
      SELECT scope, trust, count(*) AS count FROM memory_document WHERE retired_at IS NULL
      GROUP BY scope, trust ORDER BY scope DESC, trust`;
    const [counts] = await tx<Pick<MemorySummary, 'versions' | 'proposalsWaiting' | 'outbox'>>`
      SELECT (SELECT count(*) FROM memory_version) AS versions,
             (SELECT count(*) FROM dream_job WHERE state = 'pending') AS "proposalsWaiting",
             (SELECT count(*) FROM memory_outbox) AS outbox`;
    if (!episodes || !counts) throw new Error('an aggregate always has a row');
    return { episodes, documents, systems, ...counts };
  });
}
