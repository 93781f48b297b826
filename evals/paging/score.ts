import type { Situation } from './situations.ts';

/** When somebody was paged for each situation, in minutes of it. */
export type Pages = ReadonlyMap<string, readonly number[]>;

export interface PagingScore {
  readonly routine: number;
  /** Of those, without a page. */
  readonly unpaged: number;
  readonly needed: number;
  /** Situations in which somebody was needed, and nobody was paged from then on. */
  readonly lost: readonly Situation[];
  readonly pagedForNothing: readonly Situation[];
}

export function scorePaging(all: readonly Situation[], pages: Pages): PagingScore {
  const routine = all.filter(({ needed }) => needed === null);
  const needed = all.filter((each) => each.needed !== null);
  const of = (each: Situation): readonly number[] => pages.get(each.id) ?? [];
  const pagedForNothing = routine.filter((each) => of(each).length > 0);
  return {
    routine: routine.length,
    unpaged: routine.length - pagedForNothing.length,
    needed: needed.length,
    lost: needed.filter((each) => !of(each).some((minute) => minute >= (each.needed ?? 0))),
    pagedForNothing,
  };
}

export function formatPaging({ routine, unpaged, needed, lost, pagedForNothing }: PagingScore): string {
  const list = (title: string, all: readonly Situation[]): string[] =>
    all.map(({ id, kind }) => `${title}: ${id}, ${kind}`);
  return [
    `${routine + needed} alerts`,
    `routine that ended without a page: ${unpaged} of ${routine} (${((100 * unpaged) / Math.max(1, routine)).toFixed(1)} %)`,
    `needed pages that were lost: ${lost.length} of ${needed}`,
    ...list('paged for nothing', pagedForNothing),
    ...list('lost', lost),
  ].join('\n');
}
