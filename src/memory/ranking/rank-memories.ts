import type { DocType, Entities, Trust } from '../documents/document.ts';
import { entityScore } from './entity-score.ts';
import { recencyScore } from './recency-score.ts';
import { type Outcomes, trustScore } from './trust-score.ts';
import { typeScore } from './type-score.ts';

/** The seed's weights. */
export const RANKING = { text: 0.45, trust: 0.2, entity: 0.15, type: 0.1, recency: 0.1 } as const;

export interface MemoryCandidate {
  /** Text relevance, 0–1: the score of a search hit. */
  readonly text: number;
  readonly trust: Trust;
  readonly outcomes?: Outcomes;
  readonly entities: Entities;
  readonly type: DocType;
  readonly updatedAt: Date;
  /** What its score is multiplied by for the system it was learnt on, see `systemFactor`; 1 when left out. */
  readonly systemFactor?: number;
}

export interface RankedMemory<T> {
  readonly memory: T;
  /** 0–1. */
  readonly score: number;
  /** Each 0–1, before its weight. */
  readonly parts: Readonly<Record<keyof typeof RANKING, number>>;
}

/** Best first; equals stay in the order they came. */
export function rankMemories<T extends MemoryCandidate>(
  candidates: readonly T[],
  asked: Entities,
  now: Date,
): readonly RankedMemory<T>[] {
  return candidates
    .map((memory) => {
      const parts = {
        text: Math.min(1, Math.max(0, memory.text)),
        trust: trustScore(memory.trust, memory.outcomes),
        entity: entityScore(asked, memory.entities),
        type: typeScore(memory.type),
        recency: recencyScore(memory.updatedAt, now),
      };
      const sum =
        RANKING.text * parts.text +
        RANKING.trust * parts.trust +
        RANKING.entity * parts.entity +
        RANKING.type * parts.type +
        RANKING.recency * parts.recency;
      return { memory, parts, score: sum * (memory.systemFactor ?? 1) };
    })
    .toSorted((a, b) => b.score - a.score);
}
