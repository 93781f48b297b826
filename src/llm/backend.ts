import type { FinishedMessage, ModelEvent, ModelRequest } from './types.ts';

/** One way to reach a model: the direct API today; Bedrock and other Messages-speaking gateways look the same. */
export interface ModelBackend {
  readonly name: string;
  /** One try, no retries. Rejects with `LlmError` whose `retryable` says whether the same body may be sent again. */
  readonly attempt: (request: AttemptRequest, options: AttemptOptions) => Promise<AttemptResult>;
  /** Input tokens of a request as the server counts them. */
  readonly countTokens: (request: AttemptRequest, signal: AbortSignal) => Promise<number>;
}

export type AttemptRequest = ModelRequest & { readonly model: string };

export interface AttemptOptions {
  readonly signal: AbortSignal;
  /** This try is given up after so long. */
  readonly timeoutMs: number;
  /** Must not throw. */
  readonly onEvent: (event: Extract<ModelEvent, { type: 'text' | 'thinking' | 'tool_use_started' }>) => void;
}

export type AttemptResult = Pick<FinishedMessage, 'content' | 'stop' | 'model' | 'requestId' | 'usage'>;
