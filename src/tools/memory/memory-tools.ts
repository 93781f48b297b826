import type { MemoryTool } from '../define.ts';
import { loadToolset } from './load-toolset.ts';
import { memoryHistory } from './memory-history.ts';
import { memoryList } from './memory-list.ts';
import { memoryPatch } from './memory-patch.ts';
import { memoryProposePromotion } from './memory-propose-promotion.ts';
import { memoryRead } from './memory-read.ts';
import { memoryRemember } from './memory-remember.ts';
import { memorySearch } from './memory-search.ts';

/** The memory tools, in the order models are shown them. The writing ones belong to the toolset `memory`. */
// oxlint-disable-next-line typescript/no-explicit-any -- tools of every input type together; the gate parses each
export const memoryTools: readonly MemoryTool<any>[] = [
  memorySearch,
  memoryRead,
  memoryList,
  memoryHistory,
  memoryRemember,
  memoryPatch,
  memoryProposePromotion,
];

/** What a registry holds and a model is offered: the memory tools, and the one that lets the writing ones through. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export const memoryToolset: readonly MemoryTool<any>[] = [loadToolset, ...memoryTools];
