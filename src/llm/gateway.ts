import { setTimeout as sleep } from 'node:timers/promises';
import { storable } from '../core/storable.ts';
import type { AttemptRequest, AttemptResult, ModelBackend } from './backend.ts';
import { LlmError, withSpent } from './llm-error.ts';
import { usdOf } from './pricing.ts';
import {
  addUsage,
  type FinishedMessage,
  type ModelStream,
  NOTHING_SPENT,
  type Spent,
  type StreamOptions,
} from './types.ts';

/** Where nobody has set another one. */
export const DEFAULT_MODEL = 'claude-opus-5-5';

export interface RetryPolicy {
  /** Tries in all; after them the playbook takes over, so a few seconds are enough. */
  readonly maxAttempts: number;
  /** First wait; doubles each time, with jitter between half and whole. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** A server's `retry-after` is honoured up to this. */
  readonly maxRetryAfterMs: number;
}

const DEFAULT_RETRY: RetryPolicy = {
  maxAttempts: 3,
  baseDelayMs: 500,
  maxDelayMs: 8_000,
  maxRetryAfterMs: 10_000,
};

export interface GatewayOptions {
  readonly backend: ModelBackend;
  readonly model?: string;
  readonly retry?: Partial<RetryPolicy>;
}

export interface ModelGateway {
  readonly model: string;
  readonly stream: ModelStream;
}

/** What agents call: one model, retries under one deadline, what each message cost. */
export function createModelGateway(options: GatewayOptions): ModelGateway {
  const model = options.model ?? DEFAULT_MODEL;
  const retry: RetryPolicy = { ...DEFAULT_RETRY, ...options.retry };
  const { backend } = options;
  return {
    model,
    stream: (request, stream) => streamWithRetries(backend, { model, ...request }, stream, retry),
  };
}

async function streamWithRetries(
  backend: ModelBackend,
  request: AttemptRequest,
  { signal, deadlineMs, onEvent }: StreamOptions,
  retry: RetryPolicy,
): Promise<FinishedMessage> {
  const endsAt = performance.now() + deadlineMs;
  let wasted = NOTHING_SPENT;
  for (let attempt = 1; ; attempt++) {
    let streamed = false;
    try {
      const result = await backend.attempt(request, {
        signal,
        timeoutMs: Math.max(1, Math.ceil(endsAt - performance.now())),
        onEvent: (event) => {
          streamed = true;
          onEvent(event);
        },
      });
      return finished(result, wasted);
    } catch (error) {
      if (!(error instanceof LlmError)) throw error;
      wasted = { usage: addUsage(wasted.usage, error.spent.usage), usd: wasted.usd + error.spent.usd };
      if (streamed) onEvent({ type: 'withdrawn' });
      const delayMs = waitBefore(attempt, error, retry);
      if (!error.retryable || attempt >= retry.maxAttempts || performance.now() + delayMs >= endsAt) {
        throw withSpent(error, wasted);
      }
      onEvent({ type: 'retrying', reason: error.message, attempt: attempt + 1, delayMs });
      await wait(delayMs, signal, wasted);
    }
  }
}

function waitBefore(attempt: number, error: LlmError, retry: RetryPolicy): number {
  if (error.retryAfterMs !== null) return Math.min(error.retryAfterMs, retry.maxRetryAfterMs);
  const backoff = Math.min(retry.maxDelayMs, retry.baseDelayMs * 2 ** (attempt - 1));
  return Math.round(backoff * (0.5 + Math.random() / 2));
}

async function wait(delayMs: number, signal: AbortSignal, spent: Spent): Promise<void> {
  try {
    await sleep(delayMs, undefined, { signal });
  } catch (error) {
    throw new LlmError('LLM_ABORTED', 'the model call was stopped', { spent, cause: error });
  }
}

/**
 * `content` stays to the byte what came, since it is what goes back. The text and the names of tools are put on record,
 * so they are storable; what a tool is called with is judged by the gate as it came.
 */
function finished(result: AttemptResult, wasted: Spent): FinishedMessage {
  const texts = result.content.flatMap((block) => (block.type === 'text' ? [String(block['text'])] : []));
  const toolUses = result.content.flatMap((block) =>
    block.type === 'tool_use'
      ? [{ id: String(block['id']), name: storable(String(block['name'])), input: block['input'] }]
      : [],
  );
  const usd = usdOf(result.model, result.usage);
  return { ...result, text: storable(texts.join('\n\n')), toolUses, usd, wasted };
}
