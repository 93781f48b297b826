import type Anthropic from '@anthropic-ai/sdk';
import type { AttemptOptions, AttemptResult } from './backend.ts';
import { classifyError } from './classify-error.ts';
import { headersFor } from './compaction.ts';
import { LlmError } from './llm-error.ts';
import { type Iteration, pricedModel, usageOf } from './message-usage.ts';
import { spentOn } from './pricing.ts';
import { createRawInputs } from './raw-inputs.ts';
import type { MessageBody } from './request-body.ts';
import { createStreamedUsage } from './streamed-usage.ts';
import type { AssistantContent, ModelStop, Spent } from './types.ts';
import type { Watchdog } from './watchdog.ts';

/** What every client of the vendor's SDK has, whichever server it speaks to. */
export interface MessagesClient {
  readonly messages: Pick<Anthropic['messages'], 'stream'>;
}

/** One message over the stream, to its end or the watchdog's. */
export async function streamMessage(
  client: MessagesClient,
  body: MessageBody,
  { onEvent, timeoutMs }: Pick<AttemptOptions, 'onEvent' | 'timeoutMs'>,
  dog: Watchdog,
): Promise<AttemptResult> {
  dog.signal.throwIfAborted();
  const options = { signal: dog.signal, timeout: timeoutMs, headers: headersFor(body) };
  const stream = client.messages.stream(body, options);
  const inputs = createRawInputs();
  const used = createStreamedUsage();
  stream.on('connect', dog.touch);
  stream.on('streamEvent', (event) => {
    dog.touch();
    inputs.take(event);
    used.take(event);
    if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
      onEvent({ type: 'tool_use_started', name: event.content_block.name });
    }
  });
  stream.on('text', (delta) => onEvent({ type: 'text', delta }));
  stream.on('thinking', (delta) => onEvent({ type: 'thinking', delta }));
  try {
    // What goes on before the request (credentials are looked up) does not listen to the signal.
    const message = await dog.orAbort(stream.finalMessage());
    return result(message, body.model, requestIdOf(stream), inputs.whole(), used.iterations);
  } catch (error) {
    // Not of the SDK's message: it is gone when the stream ends early.
    const spent = used.spent(body.model);
    if (!dog.signal.aborted) throw classifyError(error, spent);
    const reason = dog.signal.reason as LlmError;
    throw new LlmError(reason.code, reason.message, { retryable: reason.retryable, spent, cause: error });
  }
}

/** Bedrock has a header of its own for it. */
function requestIdOf({ request_id, response }: ReturnType<Anthropic['messages']['stream']>): string | null {
  return request_id ?? response?.headers.get('x-amzn-requestid') ?? null;
}

function result(
  message: Anthropic.Message,
  asked: string,
  requestId: string | null,
  inputsWhole: boolean,
  iterations: readonly Iteration[],
): AttemptResult {
  const usage = usageOf(message.usage, iterations);
  const model = pricedModel(message, asked);
  const spent = spentOn(model, usage);
  const stop = stopOf(message, spent);
  if (!inputsWhole && stop.kind !== 'max_tokens') {
    // Such a call must not run, and such a turn could never be sent back: the API takes only objects as tool input.
    throw new LlmError('LLM_BAD_OUTPUT', 'the input of a tool call is not a whole JSON object', {
      retryable: true,
      requestId,
      spent,
    });
  }
  return { content: plain(message.content), stop, model, requestId, usage };
}

/** Plain JSON: what is stored, compared and echoed must not depend on getters of the SDK's objects. */
function plain(content: readonly Anthropic.ContentBlock[]): AssistantContent {
  return JSON.parse(JSON.stringify(content)) as AssistantContent;
}

function stopOf(message: Anthropic.Message, spent: Spent): ModelStop {
  // `compaction` is of the beta.
  const reason = message.stop_reason as Anthropic.Beta.BetaStopReason | null;
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      return { kind: 'end_turn' };
    case 'tool_use':
    case 'max_tokens':
    case 'pause_turn':
    case 'compaction':
      return { kind: reason };
    case 'model_context_window_exceeded':
      return { kind: 'context_exceeded' };
    case 'refusal':
      return {
        kind: 'refusal',
        category: message.stop_details?.category ?? null,
        explanation: message.stop_details?.explanation ?? null,
      };
    case null:
      throw new LlmError('LLM_STREAM_BROKEN', 'the message ended without a stop reason', {
        retryable: true,
        spent,
      });
    default:
      return { kind: 'unknown', reason: String(reason) };
  }
}
