import { OpsError } from '../../core/errors.ts';
import { LlmError } from '../../llm/llm-error.ts';
import {
  addUsage,
  type FinishedMessage,
  type ModelEvent,
  type ModelRequest,
  type ModelStream,
  type Spent,
} from '../../llm/types.ts';
import type { Durably } from './types.ts';

/** A model call's end in a form that can be recorded. `ms`: how long it took when it really ran. */
export type Asked =
  | { readonly ok: true; readonly message: FinishedMessage; readonly spent: Spent; readonly ms: number }
  | { readonly ok: false; readonly error: RecordedError; readonly spent: Spent; readonly ms: number };

export interface RecordedError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly retryable: boolean;
}

export interface AskOptions {
  readonly durably: Durably;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  readonly onEvent: (event: ModelEvent) => void;
}

/**
 * One model message as a durable step: paid for once, whatever crashes. A failure is recorded too, so that a replay
 * takes the same way; an abort is not, so that it can go on later.
 */
export function askModel(
  name: string,
  stream: ModelStream,
  request: ModelRequest,
  options: AskOptions,
): Promise<Asked> {
  const { durably, ...streamOptions } = options;
  return durably(name, async (): Promise<Asked> => {
    const started = performance.now();
    const ms = () => Math.round(performance.now() - started);
    try {
      const message = await stream(request, streamOptions);
      const spent = {
        usage: addUsage(message.usage, message.wasted.usage),
        usd: (message.usd ?? 0) + message.wasted.usd,
      };
      return { ok: true, message, spent, ms: ms() };
    } catch (error) {
      if (!(error instanceof LlmError) || error.code === 'LLM_ABORTED') throw error;
      const { code, message, hint, retryable } = error;
      return { ok: false, error: { code, message, hint, retryable }, spent: error.spent, ms: ms() };
    }
  });
}

export function revive(error: RecordedError): OpsError {
  return new OpsError(error.code, error.message, { hint: error.hint, retryable: error.retryable });
}
