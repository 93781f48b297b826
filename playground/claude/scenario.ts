/**
 * What a scripted model may say. A scenario answers request after request; nothing in it runs a tool or
 * knows the product: it only sees what the real API would see, the request body.
 */

/** One content block of a scripted answer. `id`s of tool calls are made up when absent. */
export type ScriptedBlock =
  | { readonly thinking: string }
  | { readonly redacted: string }
  | { readonly text: string }
  /** A summary of the conversation, where one was asked for. */
  | { readonly summary: string }
  | { readonly tool: string; readonly input: unknown; readonly id?: string }
  /** A tool call whose streamed input is exactly this text, JSON or not. */
  | { readonly tool: string; readonly rawInput: string; readonly id?: string };

/** What goes wrong. `afterBytes` counts bytes of the SSE body that are sent before it does. */
export type ScriptedFault =
  /** An HTTP error instead of a stream. */
  | {
      readonly kind: 'http';
      readonly status: number;
      readonly type?: string;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** An SSE `error` event after status 200, at the first event boundary at or after the position. */
  | { readonly kind: 'error_event'; readonly afterBytes: number; readonly type?: string }
  /** The socket is destroyed. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The body ends as if complete. */
  | { readonly kind: 'eof'; readonly afterBytes: number }
  /** Nothing more is sent until `release()`; then the rest follows. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  /** Bytes that are no SSE, then the end. */
  | { readonly kind: 'garbage'; readonly afterBytes: number };

export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded'
  | 'compaction';

/** One scripted answer. */
export interface ScriptedReply {
  readonly blocks?: readonly ScriptedBlock[];
  /** Default: `tool_use` when a tool is called, else `end_turn`. */
  readonly stop?: StopReason;
  readonly stopDetails?: { readonly category: string | null; readonly explanation: string | null };
  readonly outputTokens?: number;
  /** Size in characters of each delta; default 12. */
  readonly deltaChars?: number;
  /** Size in bytes of each socket write, so that events and UTF-8 characters are torn; default whole. */
  readonly writeBytes?: number;
  /** Milliseconds before the first byte. */
  readonly delayMs?: number;
  /** Milliseconds between two events, as a model that types. */
  readonly eventDelayMs?: number;
  /** Stop before the first delta whose text contains this, until `release()`: a message held half-way. */
  readonly holdBefore?: string;
  readonly fault?: ScriptedFault;
}

/** A request as it arrived, after it passed the checks of the real API. */
export interface MessagesRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly system?: string | readonly { readonly type: string; readonly text: string }[];
  readonly tools?: readonly { readonly name: string; readonly input_schema?: unknown }[];
  readonly messages: readonly RequestMessage[];
  readonly [parameter: string]: unknown;
}

export interface RequestMessage {
  readonly role: string;
  readonly content: string | readonly RequestBlock[];
}

export interface RequestBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type ScriptedTurn = ScriptedReply | ((request: MessagesRequest) => ScriptedReply);

/** A list is answered in order, whoever asks; a function sees each request and may serve many conversations. */
export type Scenario = readonly ScriptedTurn[] | ((request: MessagesRequest) => ScriptedReply);

/** The blocks of a message, with the string shorthand written out. */
export function blocksOf(message: RequestMessage): readonly RequestBlock[] {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}

/** The texts of all tool results in a request, oldest first, whoever's call they answer. */
export function toolResultTexts(request: MessagesRequest): string[] {
  return request.messages.flatMap((message) =>
    blocksOf(message)
      .filter((block) => block.type === 'tool_result')
      .map((block) => resultText(block.content)),
  );
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : ''))
    .join('\n');
}
