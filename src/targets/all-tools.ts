import type { Tool } from '../tools/define.ts';
import { fetchDocsTool } from '../tools/docs/fetch-docs.ts';
import type { TargetKind } from './kind.ts';
import { kinds } from './kinds.ts';

/** Every tool that reads or changes a system, or reads what is written about it, in the order models are shown them. */
export function toolsOfKinds(of: readonly TargetKind[]): readonly Tool[] {
  // Kinds may share a tool.
  return [...new Set(of.flatMap(({ tools }) => tools)), fetchDocsTool];
}

export const allTools: readonly Tool[] = toolsOfKinds(kinds);
