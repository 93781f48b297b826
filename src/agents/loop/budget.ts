import { addUsage, NO_USAGE, type Spent, totalTokens } from '../../llm/types.ts';
import type { LimitKind, LoopLimits, LoopSpent } from './types.ts';

/** Counts what a loop has used and says which limit is reached. Counts only recorded numbers, so a replay agrees. */
export interface Budget {
  readonly spent: LoopSpent;
  message(spent: Spent, ms: number): void;
  /** What a call of the model cost that was no turn. */
  aside(spent: Spent, ms: number): void;
  tools(count: number, ms: number): void;
  /** No further model message may be asked for. */
  exceeded(): LimitKind | undefined;
  /** The next message is the last one the turn limit allows. */
  lastTurn(): boolean;
  remainingMs(): number;
}

export function createBudget(limits: LoopLimits): Budget {
  let spent: LoopSpent = { turns: 0, toolCalls: 0, usage: NO_USAGE, usd: 0, activeMs: 0 };
  const aside = (more: Spent, ms: number): void => {
    spent = {
      ...spent,
      usage: addUsage(spent.usage, more.usage),
      usd: spent.usd + more.usd,
      activeMs: spent.activeMs + ms,
    };
  };
  return {
    get spent() {
      return spent;
    },
    message(more, ms) {
      aside(more, ms);
      spent = { ...spent, turns: spent.turns + 1 };
    },
    aside,
    tools(count, ms) {
      spent = { ...spent, toolCalls: spent.toolCalls + count, activeMs: spent.activeMs + ms };
    },
    exceeded() {
      if (spent.turns >= limits.turns) return 'turns';
      if (spent.toolCalls >= limits.toolCalls) return 'toolCalls';
      if (totalTokens(spent.usage) >= limits.tokens) return 'tokens';
      if (spent.usd >= limits.usd) return 'usd';
      return spent.activeMs >= limits.wallMs ? 'wallMs' : undefined;
    },
    lastTurn: () => spent.turns === limits.turns - 1,
    remainingMs: () => Math.max(1, limits.wallMs - spent.activeMs),
  };
}
