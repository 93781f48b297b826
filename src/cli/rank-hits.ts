import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import type { Audiences } from '../memory/audiences.ts';
import { type FoundMemory, findMemories } from '../memory/context/find-memories.ts';
import { createDocuments } from '../memory/documents/documents.ts';
import { entitiesOf } from '../memory/ranking/entities-of.ts';
import { RANKING, type RankedMemory } from '../memory/ranking/rank-memories.ts';
import { createRecords } from '../record/record.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import type { SearchHit } from '../search/types.ts';

/** A hit with what the ranking of a model's turn makes of it: there the order may be another. */
export interface RankedHit extends SearchHit {
  readonly rank?: Pick<RankedMemory<unknown>, 'score' | 'parts'> & Pick<FoundMemory, 'outcomes'>;
}

/** At the shell of the machine everything may be read: who may read what is not asked. */
const nobodyAsked: Audiences = {
  mayTell: async () => ({ ids: new Set(), keptBack: new Set(), isUnsure: true }),
  apart: async () => [],
};
const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Each hit by itself, in its order; without a rank when nothing stands behind it any more. */
export function rankHits(sql: Sql, text: string, hits: readonly SearchHit[]): Promise<readonly RankedHit[]> {
  const documents = createDocuments({
    sql,
    events: createRecords(sql),
    audit: createAuditLog(sql),
    enabled: false,
    domains: [],
  });
  return Promise.all(
    hits.map(async (hit) => {
      const retrieval = { search: async () => ({ hits: [hit], meaning: 'none' as const }) };
      const { found } = await findMemories(
        { sql, retrieval, documents, audiences: nobodyAsked, log: silent },
        {
          reader: { kind: 'operator' },
          here: null,
          spaces: [hit.space],
          texts: [text],
          entities: entitiesOf(text),
          domain: null,
          limit: 1,
          meaningWithinMs: 0,
        },
      );
      const [one] = found;
      if (!one) return hit;
      const { score, parts, memory } = one;
      return { ...hit, rank: { score, parts, ...(memory.outcomes && { outcomes: memory.outcomes }) } };
    }),
  );
}

/** For people: the score of a turn as the sum of its weighted shares. */
export function rankLine({ rank }: RankedHit): string {
  if (!rank) return '';
  const shares = Object.entries(RANKING).map(
    ([part, weight]) => `${part} ${(weight * rank.parts[part as keyof typeof RANKING]).toFixed(3)}`,
  );
  const { outcomes } = rank;
  const record = outcomes ? ` (helped ${outcomes.worked} times, did not ${outcomes.failed} times)` : '';
  return `      in a turn ${rank.score.toFixed(3)}: ${shares.join(' + ')}${record}\n`;
}
