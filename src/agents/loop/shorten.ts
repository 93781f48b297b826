import type { ModelStream, ModelTool, ModelTurn } from '../../llm/types.ts';
import { type Asked, type AskOptions, askModel } from './ask-model.ts';
import type { Budget } from './budget.ts';
import { callsOf, compacted, type PastCall, summaryContext } from './compact.ts';
import type { AgentEvent, LoopOptions } from './types.ts';

const MAX_COMPACTIONS = 2;
/** What a summary may take: some pages and the thinking before them. Code needs nothing. */
const SUMMARY_MS = 4 * 60_000;
/** Messages that a summary must be worth its price for: the prompt, and a turn that was answered. */
const MIN_SUMMED_UP = 3;

/** The history of a loop, and what became of it. */
export interface History {
  readonly messages: ModelTurn[];
  /** Calls that are no longer in it. */
  readonly past: PastCall[];
  compactions: number;
  /** Tokens of the last request and its answer: what the next one begins with. */
  contextTokens: number;
}

/** Begins a new, short history made by code; false when there is nothing to shorten or it has been tried. */
export function compactLocally(history: History, prompt: string): boolean {
  const { messages, past } = history;
  if (messages.length < MIN_SUMMED_UP || history.compactions >= MAX_COMPACTIONS) return false;
  replace(history, messages.length, compacted(messages, prompt, past));
  return true;
}

export interface ShortenOptions extends AskOptions {
  readonly onEvent: (event: AgentEvent) => void;
  readonly loop: Pick<LoopOptions<never>, 'stream' | 'system' | 'effort' | 'prompt' | 'compaction'>;
  readonly tools: readonly ModelTool[];
  readonly maxTokens: number;
  readonly budget: Budget;
  /** Of the durable step; unique in the loop. */
  readonly name: string;
}

/**
 * Replaces what was sent with the last request by the server's summary of it, where there is such a thing: the model's
 * answer to that request and the results for it stay, word for word, and so does what it thought. Else by code.
 */
export async function shorten(history: History, options: ShortenOptions): Promise<void> {
  const { loop, name, budget } = options;
  const { messages, past } = history;
  const cut = summableUntil(messages);
  if (loop.compaction === undefined || cut === undefined || history.compactions >= MAX_COMPACTIONS) {
    compactLocally(history, loop.prompt);
    return;
  }
  const asked = await askForSummary(loop.stream, messages.slice(0, cut), loop.compaction, options, name);
  budget.aside(asked.spent, asked.ms);
  if (!asked.ok || asked.message.stop.kind !== 'compaction') {
    compactLocally(history, loop.prompt);
    return;
  }
  replace(history, cut, { role: 'assistant', content: asked.message.content });
  const last = messages.at(-1);
  if (last?.role !== 'user') return;
  // Not answered yet, so it may still grow. Results come first in a turn, the newest words last.
  const results = last.content.filter((block) => block.type === 'tool_result');
  const words = last.content.filter((block) => block.type !== 'tool_result');
  const beside = summaryContext(loop.prompt, past);
  messages.splice(-1, 1, { role: 'user', content: [...results, ...beside, ...words] });
}

function askForSummary(
  stream: ModelStream,
  messages: readonly ModelTurn[],
  instructions: string,
  { loop, tools, maxTokens, durably, signal, deadlineMs, onEvent }: ShortenOptions,
  name: string,
): Promise<Asked> {
  const { system, effort } = loop;
  return askModel(
    name,
    // Within the durable step: not told again when it is replayed.
    (request, options) => {
      onEvent({ type: 'summing_up' });
      return stream(request, options);
    },
    { system, tools, messages, effort, maxTokens, compaction: { instructions } },
    { durably, signal, deadlineMs: Math.min(deadlineMs, SUMMARY_MS), onEvent },
  );
}

/** Up to the model's last answer, when a user turn stands before and after it; undefined when it is not worth it. */
function summableUntil(messages: readonly ModelTurn[]): number | undefined {
  const cut = messages.length - 2;
  const fits = messages[cut]?.role === 'assistant' && messages[cut - 1]?.role === 'user';
  return fits && messages.at(-1)?.role === 'user' && cut >= MIN_SUMMED_UP ? cut : undefined;
}

function replace(history: History, count: number, by: ModelTurn): void {
  const { messages, past } = history;
  past.push(...callsOf(messages.slice(0, count)));
  history.compactions += 1;
  history.contextTokens = 0;
  messages.splice(0, count, by);
}
