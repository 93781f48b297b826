import type { Advice, FailedRead } from './kind.ts';
import { kinds } from './kinds.ts';

/**
 * What the kind that a read tool belongs to says about its failure; null where it says nothing. A tool of no kind, as one
 * that had another name when its call was recorded, is judged by its code alone. `reader` as in `TargetKind.reader`.
 */
export function adviseOn(read: FailedRead, reader: string | null): Advice | null {
  const own = kinds.find(({ tools }) => tools.some(({ name }) => name === read.tool));
  if (own) return own.advise(read, reader);
  if (read.code === null) return null;
  for (const kind of kinds) {
    const advice = kind.advise(read, reader);
    if (advice !== null) return advice;
  }
  return null;
}
