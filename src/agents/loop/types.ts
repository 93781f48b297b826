import type { z } from 'zod';
import type { OpsError } from '../../core/errors.ts';
import type {
  Effort,
  FinishedMessage,
  ModelEvent,
  ModelStream,
  ModelTool,
  TokenUsage,
} from '../../llm/types.ts';

/** What came of one tool call, as the model is told. */
export interface ToolAnswer {
  readonly content: string;
  readonly isError: boolean;
  /** Under which id the call is on record, where that is not the model's own id for it. */
  readonly recordedAs?: string;
  /** Ends the loop with this message's calls; handed back as the outcome's `final`, after a replay too. */
  readonly final?: string;
  /** The same call was answered before, and says nothing else now. */
  readonly unchanged?: boolean;
}

/** What the same call was answered before. */
export interface EarlierAnswer {
  readonly recordedAs?: string;
  /** When it was made, ms since 1970. */
  readonly at: number;
}

/**
 * The one way to a tool (the gate). Must not throw: a refusal or failure is an answer with `isError`.
 * Must follow `signal`; the loop does not wait for it after an abort. `earlier`: it is made again, and compared with that.
 */
export type CallTool = (
  name: string,
  input: unknown,
  toolUseId: string,
  signal: AbortSignal,
  earlier?: EarlierAnswer,
) => Promise<ToolAnswer>;

/** As `CallTool`, for all calls of one message at once, in their order and never none: one answer for them all. */
export type CallTogether = (
  calls: readonly { readonly name: string; readonly input: unknown }[],
) => Promise<ToolAnswer>;

/**
 * Runs `fn` as a durable step: after a crash the recorded result is returned and `fn` does not run again. Names are
 * unique within a loop and the same on every run; results survive JSON. `fn` rejects only when it was aborted, and
 * that must not be recorded.
 */
export type Durably = <T>(name: string, fn: () => Promise<T>) => Promise<T>;

/** The tool whose input is the role's answer. It is offered, never forced: current models refuse forced tools. */
export interface ReportTool<T> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<T>;
  /** Puts right what is meant well but written otherwise, before `schema` judges it. Must not throw. */
  readonly tidy?: (input: unknown) => unknown;
  /**
   * Judges a report that fits the schema: null takes it, anything else is told the model in its next turn. Not asked where a
   * limit leaves no turn for an answer. `reviews`: how many it was given before.
   */
  readonly review?: (
    report: T,
    recordedAs: ReadonlyMap<string, string>,
    reviews: number,
  ) => Promise<ReportReview | null>;
}

export interface ReportReview {
  readonly says: string;
  /** For the turns that follow; as before when left out. */
  readonly effort?: Effort;
}

/** What a person said while the loop ran. `seq` grows; what was heard up to one is not given again. */
export interface Hint {
  readonly seq: number;
  readonly text: string;
}

export interface LoopLimits {
  /** Finished model messages. */
  readonly turns: number;
  readonly toolCalls: number;
  /** Input (cached included) and output tokens over all messages, broken tries included. */
  readonly tokens: number;
  readonly usd: number;
  /** Time spent in model and tools, ms; what a restart took does not count. */
  readonly wallMs: number;
  /** Turns in a row that bring nothing new: only repeated or failed calls, or reads that show nothing else than before. */
  readonly idleTurns: number;
}

export const DEFAULT_LIMITS: LoopLimits = {
  turns: 24,
  toolCalls: 80,
  tokens: 2_000_000,
  usd: 2,
  wallMs: 10 * 60_000,
  idleTurns: 3,
};

export type AgentEvent =
  | Exclude<ModelEvent, { type: 'tool_use_started' }>
  | { readonly type: 'tool_use_started'; readonly name: string }
  | { readonly type: 'message'; readonly turn: number; readonly message: FinishedMessage }
  /** The server is asked for a summary of the history: it takes minutes, and nothing of it is shown. */
  | { readonly type: 'summing_up' }
  | {
      readonly type: 'tool_started';
      readonly toolUseId: string;
      readonly name: string;
      readonly input: unknown;
    }
  | {
      readonly type: 'tool_finished';
      readonly toolUseId: string;
      readonly name: string;
      readonly isError: boolean;
      readonly repeated: boolean;
    };

/** What a last message may take when the time is up, ms: it says what is known. */
export const CLOSING_MS = 60_000;

export interface LoopOptions<T> {
  readonly stream: ModelStream;
  readonly system: string;
  /** Declared whole and the same in every turn; the report tool is added at the end. */
  readonly tools: readonly ModelTool[];
  readonly report?: ReportTool<T>;
  /** The first user turn. */
  readonly prompt: string;
  readonly effort: Effort;
  readonly maxTokens: number;
  readonly callTool: CallTool;
  /** What makes two calls the same one, whatever else is said with them; without it all of their input does. */
  readonly identify?: (name: string, input: unknown) => string;
  /** Whether a call may run again after a while because what it reads changes; without it any may. */
  readonly mayRepeat?: (name: string) => boolean;
  /** ms since 1970. */
  readonly clock?: () => number;
  readonly signal: AbortSignal;
  /** Told of each call of the last message that a limit leaves no room for; it does not run. */
  readonly leftOut?: (name: string, input: unknown, limit: LimitKind) => Promise<void>;
  /** Must not throw. Replayed turns are not told again, only `message` is. */
  readonly onEvent?: (event: AgentEvent) => void;
  readonly limits?: Partial<LoopLimits>;
  readonly durably?: Durably;
  /** From so many tokens on, a summary takes the history's place. */
  readonly compactAtTokens?: number;
  /** What a model is told that sums the history up itself, where its server does that; without it code does it. */
  readonly compaction?: string | undefined;
  /** All calls of a message are one request (the steps of a plan), taken or refused as a whole; instead of `callTool`. */
  readonly callTogether?: CallTogether;
  /** What people said meanwhile; asked before each user turn, in which it is put after the tool results. */
  readonly takeHints?: (after: number) => Promise<readonly Hint[]>;
  /**
   * What memory adds to a user turn after the first, at its end; '' for nothing. It settles its words durably itself: the
   * same turn gets the same ones on every run. Not asked for the last turn, which only concludes.
   */
  readonly remember?: (turn: LaterTurn) => Promise<string>;
}

/** A user turn that is about to be appended. */
export interface LaterTurn {
  /** Counted from 1; the prompt is the first. */
  readonly number: number;
  /** What people said meanwhile. */
  readonly hints: readonly string[];
  /** The results of the tools, as the model is told. */
  readonly results: readonly string[];
}

export interface LoopSpent {
  readonly turns: number;
  readonly toolCalls: number;
  readonly usage: TokenUsage;
  readonly usd: number;
  readonly activeMs: number;
}

export type LimitKind = keyof Omit<LoopLimits, 'idleTurns'> | 'no_progress' | 'max_tokens' | 'context';

export type LoopOutcome<T> =
  /** `report` is undefined when the loop has no report tool, or a tool's answer was final. */
  | {
      readonly kind: 'finished';
      readonly text: string;
      readonly report: T | undefined;
      readonly final: string | undefined;
      /** By the model's id of a tool call: the id it is on record with. */
      readonly recordedAs: ReadonlyMap<string, string>;
      readonly spent: LoopSpent;
    }
  | { readonly kind: 'limit'; readonly limit: LimitKind; readonly text: string; readonly spent: LoopSpent }
  | {
      readonly kind: 'refused';
      readonly category: string | null;
      readonly explanation: string | null;
      readonly spent: LoopSpent;
    }
  | { readonly kind: 'failed'; readonly error: OpsError; readonly spent: LoopSpent }
  | { readonly kind: 'aborted'; readonly spent: LoopSpent };
