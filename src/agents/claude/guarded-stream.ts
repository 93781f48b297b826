import { messageOf } from '../../core/errors.ts';
import type { ModelUsage } from '../../core/model-usage.ts';
import { LlmError } from '../../llm/llm-error.ts';
import { maxPriceUsd, upperBoundUsd } from '../../llm/pricing.ts';
import {
  addUsage,
  type ModelRequest,
  type ModelStream,
  type Spent,
  type StreamOptions,
  totalTokens,
} from '../../llm/types.ts';
import type { CostBreaker } from '../../safety/limits/cost-breaker.ts';

/**
 * A model that puts on record what each message cost, failed ones included, before it settles: inside the durable step
 * that paid for it.
 */
export function recordingUsage(
  llm: { readonly model: string; readonly stream: ModelStream },
  spent: (usage: ModelUsage) => Promise<void>,
): ModelStream {
  const record = (
    model: string,
    { usage, usd }: Spent,
    { reservation }: Pick<StreamOptions, 'reservation'>,
  ): Promise<void> =>
    spent({
      model,
      inputTokens: usage.input,
      cacheReadTokens: usage.cacheRead,
      cacheWriteTokens: usage.cacheWrite5m + usage.cacheWrite1h,
      cacheWrite1hTokens: usage.cacheWrite1h,
      outputTokens: usage.output,
      thinkingTokens: usage.thinking,
      costUsd: usd,
      ...(reservation === undefined ? {} : { reservation }),
    });
  return async (request, options) => {
    try {
      const message = await llm.stream(request, options);
      const usage = addUsage(message.usage, message.wasted.usage);
      const usd = (message.usd ?? maxPriceUsd(message.usage)) + message.wasted.usd;
      await record(message.model, { usage, usd }, options);
      return message;
    } catch (error) {
      if (error instanceof LlmError && totalTokens(error.spent.usage) > 0)
        await record(request.model ?? llm.model, error.spent, options);
      throw error;
    }
  };
}

/** A call whose money is not free within this time is not made: the playbook is faster. */
const WAIT_MS = 60_000;
/** Beyond a call's own deadline, for its usage to get on record. */
const GRACE_MS = 60_000;

/**
 * A stream that begins only when the cost breaker lets it, and counts as spent until its usage is on record: `stream`
 * must have recorded that when it settles. Rejects with `LlmError` LLM_BUDGET when it is not let.
 */
export function withinBudget(
  stream: ModelStream,
  breaker: Pick<CostBreaker, 'reserve'>,
  call: { readonly incidentId: string | null; readonly model: string },
): ModelStream {
  return async (request, options) => {
    const { signal, deadlineMs } = options;
    const askedAt = performance.now();
    const reserved = await breaker
      .reserve({
        incidentId: call.incidentId,
        usd: upperBoundUsd(request.model ?? call.model, sizeOf(request)),
        forMs: deadlineMs + GRACE_MS,
        waitMs: Math.min(WAIT_MS, deadlineMs),
        signal,
      })
      .catch((error: unknown) => {
        if (signal.aborted) throw new LlmError('LLM_ABORTED', 'the model call was stopped', { cause: error });
        // What cannot be counted is not spent.
        throw new LlmError('LLM_BUDGET', `the cost could not be counted: ${messageOf(error)}`, {
          cause: error,
        });
      });
    if (!reserved.ok) throw new LlmError('LLM_BUDGET', reserved.reason);
    try {
      // Waiting for the money is part of the call's time.
      const leftMs = Math.max(1, deadlineMs - (performance.now() - askedAt));
      const message = await stream(request, { ...options, deadlineMs: leftMs, reservation: reserved.id });
      await reserved.release();
      return message;
    } catch (error) {
      // Otherwise what it cost is not on record: it stays reserved, and counts as spent when its time is up.
      if (error instanceof LlmError) await reserved.release();
      throw error;
    }
  };
}

/** Tokens are longer than two bytes each, on average, in every text there is. */
const BYTES_PER_TOKEN = 2;

function sizeOf({ system, tools, messages, maxTokens }: ModelRequest): {
  readonly input: number;
  readonly output: number;
} {
  const bytes = Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify([tools, messages]));
  return { input: Math.ceil(bytes / BYTES_PER_TOKEN), output: maxTokens };
}
