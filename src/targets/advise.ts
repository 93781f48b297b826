import type { Advice, FailedRead } from './kind.ts';
import { kinds } from './kinds.ts';

/**
 * What the kind that a read tool belongs to says about its failure; null where it says nothing, and for tools of no kind.
 * `reader` as in `TargetKind.reader`.
 */
export function adviseOn(read: FailedRead, reader: string | null): Advice | null {
  const kind = kinds.find(({ tools }) => tools.some(({ name }) => name === read.tool));
  return kind?.advise(read, reader) ?? null;
}
