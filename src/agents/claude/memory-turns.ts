import type { ShownMemory } from '../../core/memory.ts';
import { isMemoryToolName } from '../../core/tool-call.ts';
import type { LaterTurn } from '../loop/types.ts';
import type { Investigation } from '../ports.ts';

/** Characters of one result that a search is made with: its first lines say what was found. */
const OF_A_RESULT = 600;

/** Memory for one role's history: what each turn gets, and what stands in the history already. */
export interface MemoryTurns {
  /** What stands in the history so far. */
  readonly shown: readonly ShownMemory[];
  /** For the first turn; `text` is what it says beyond the alert. Empty when there is none. */
  first(text: string): Promise<string>;
  later(turn: LaterTurn): Promise<string>;
}

export function memoryTurns(work: Pick<Investigation, 'memoryFor'>): MemoryTurns {
  const shown: ShownMemory[] = [];
  async function turn(number: number, text: string): Promise<string> {
    const prepared = await work.memoryFor(
      number,
      text,
      shown.map(({ id }) => id),
    );
    if (prepared === null) return '';
    shown.push(...prepared.shown);
    return prepared.text;
  }
  return {
    shown,
    first: (text) => turn(1, text),
    later: ({ number, hints, results }) => turn(number, [...hints, ...results.map(outputOf)].join('\n')),
  };
}

/** What a live system said; what memory said itself leads nowhere new. */
function outputOf(result: string): string {
  try {
    const { tool, output } = JSON.parse(result) as { readonly tool?: unknown; readonly output?: unknown };
    if (typeof tool !== 'string' || typeof output !== 'string' || isMemoryToolName(tool)) return '';
    return output.slice(0, OF_A_RESULT);
  } catch (error) {
    if (error instanceof SyntaxError) return '';
    throw error;
  }
}
