/**
 * The one port to a model. Nothing here belongs to a vendor: `agents/` sees only this, and each backend stands
 * behind it. Histories are append-only: an assistant turn is sent back exactly as it came, opaque blocks included.
 */

/** A finished assistant turn's content, as it came and as it must be echoed. Plain JSON. */
export type AssistantContent = readonly AssistantBlock[];

export interface AssistantBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type UserBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly content: string;
      readonly is_error?: true;
    };

export type ModelTurn =
  | { readonly role: 'user'; readonly content: readonly UserBlock[] }
  | { readonly role: 'assistant'; readonly content: AssistantContent };

export interface ModelTool {
  /** `[a-zA-Z0-9_-]{1,128}`, unique in the request. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface ModelRequest {
  /** Default: the configured model. */
  readonly model?: string;
  /** The same for every incident, byte for byte, so that the prompt cache is shared. */
  readonly system: string;
  readonly tools: readonly ModelTool[];
  readonly messages: readonly ModelTurn[];
  /** Lowered to what the model has; left out where it has none. */
  readonly effort: Effort;
  /** Output tokens, thinking included; capped by the model's own limit. */
  readonly maxTokens: number;
  /**
   * Asks for a summary of `messages` in place of an answer: one opaque block, with stop `compaction`, that stands as a
   * turn of its own before everything later. Any other stop: there is none. `instructions` is the whole prompt for it,
   * at most 16,384 characters. Rejects with LLM_NO_COMPACTION where the model, or the way to it, has no such thing.
   */
  readonly compaction?: { readonly instructions: string };
}

export type ModelStop =
  | { readonly kind: 'end_turn' }
  | { readonly kind: 'tool_use' }
  | { readonly kind: 'max_tokens' }
  | { readonly kind: 'pause_turn' }
  | { readonly kind: 'context_exceeded' }
  /** What was asked for by `compaction`. */
  | { readonly kind: 'compaction' }
  | { readonly kind: 'refusal'; readonly category: string | null; readonly explanation: string | null }
  /** A reason this version does not know: treated as a failure, never as success. */
  | { readonly kind: 'unknown'; readonly reason: string };

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** Tokens of one request. Total input = input + cacheWrite5m + cacheWrite1h + cacheRead. */
export interface TokenUsage {
  readonly input: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly cacheRead: number;
  /** Thinking included. */
  readonly output: number;
  readonly thinking: number;
}

/** A message that arrived whole. Survives JSON, so that it can be stored and replayed. */
export interface FinishedMessage {
  readonly content: AssistantContent;
  /** All text blocks, joined by blank lines. */
  readonly text: string;
  readonly toolUses: readonly ToolUse[];
  readonly stop: ModelStop;
  readonly model: string;
  readonly requestId: string | null;
  readonly usage: TokenUsage;
  /** US dollars of this message alone; null when the model's price is not known. */
  readonly usd: number | null;
  /** What broken attempts before it cost, as far as the server said. */
  readonly wasted: Spent;
}

export interface Spent {
  readonly usage: TokenUsage;
  readonly usd: number;
}

export type ModelEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'thinking'; readonly delta: string }
  /** A tool call begins to be written; it does not run before the message is finished. */
  | { readonly type: 'tool_use_started'; readonly name: string }
  /** Everything streamed since the request began is void: a retry starts over, or the message failed. */
  | { readonly type: 'withdrawn' }
  | {
      readonly type: 'retrying';
      readonly reason: string;
      readonly attempt: number;
      readonly delayMs: number;
    };

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** For all attempts together, waiting included, from the call on. */
  readonly deadlineMs: number;
  /** Must not throw. */
  readonly onEvent: (event: ModelEvent) => void;
  /** Of the money for it, for whoever puts on record what it cost. */
  readonly reservation?: string;
}

/**
 * Streams one message. Retries by itself, always with the identical body.
 * Rejects with `LlmError`; when `signal` aborts, with code `LLM_ABORTED`.
 */
export type ModelStream = (request: ModelRequest, options: StreamOptions) => Promise<FinishedMessage>;

export const NO_USAGE: TokenUsage = {
  input: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  cacheRead: 0,
  output: 0,
  thinking: 0,
};

export const NOTHING_SPENT: Spent = { usage: NO_USAGE, usd: 0 };

export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    cacheWrite5m: a.cacheWrite5m + b.cacheWrite5m,
    cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
    cacheRead: a.cacheRead + b.cacheRead,
    output: a.output + b.output,
    thinking: a.thinking + b.thinking,
  };
}

/** Input and output tokens together, cached ones included: what a token limit counts. */
export function totalTokens(usage: TokenUsage): number {
  return usage.input + usage.cacheWrite5m + usage.cacheWrite1h + usage.cacheRead + usage.output;
}
