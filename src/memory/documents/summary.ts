import type { Sql } from '../../core/sql.ts';
import { listSystems, type TargetSystem } from '../systems/systems.ts';
import { memoryScopes, trustLevels } from './document.ts';

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

/** @param most no count goes on past it, so that what it reads does not grow; null counts all. */
export async function memorySummary(sql: Sql, most: number | null): Promise<MemorySummary> {
  const systems = await listSystems(sql);
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const [episodes] = await tx<MemorySummary['episodes']>`
      SELECT (SELECT count(*) FROM (SELECT FROM episode LIMIT ${most}) AS t) AS total,
             (SELECT count(*) FROM (SELECT FROM episode WHERE success LIMIT ${most}) AS t) AS succeeded,
             (SELECT count(*) FROM (SELECT FROM episode WHERE NOT success LIMIT ${most}) AS t) AS failed,
             (SELECT count(*) FROM (SELECT FROM episode WHERE success IS NULL LIMIT ${most}) AS t) AS unknown,
             (SELECT count(*) FROM (SELECT FROM episode WHERE archived_at IS NOT NULL LIMIT ${most}) AS t) AS archived`;
    const documents = await tx<MemorySummary['documents'][number]>`
      SELECT scope, trust, count
        FROM unnest(${tx.array(memoryScopes)}::text[]) AS scope, unnest(${tx.array(trustLevels)}::text[]) AS trust,
             LATERAL (SELECT count(*) FROM (SELECT FROM memory_document d
                       WHERE d.scope = scope.scope AND d.trust = trust.trust AND d.retired_at IS NULL LIMIT ${most}) AS t) AS counted
       WHERE count > 0 ORDER BY scope DESC, trust`;
    const [counts] = await tx<Pick<MemorySummary, 'versions' | 'proposalsWaiting' | 'outbox'>>`
      SELECT (SELECT count(*) FROM (SELECT FROM memory_version LIMIT ${most}) AS t) AS versions,
             (SELECT count(*) FROM (SELECT FROM dream_job WHERE state = 'pending' LIMIT ${most}) AS t) AS "proposalsWaiting",
             (SELECT count(*) FROM (SELECT FROM memory_outbox LIMIT ${most}) AS t) AS outbox`;
    if (!episodes || !counts) throw new Error('a SELECT without FROM always has a row');
    return { episodes, documents, systems, ...counts };
  });
}
