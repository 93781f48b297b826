import Anthropic from '@anthropic-ai/sdk';
import type { AttemptOptions, AttemptResult, ModelBackend } from './backend.ts';
import { createCapabilityCache, listedCapabilities, type ModelCapabilities } from './capabilities.ts';
import { classifyError } from './classify-error.ts';
import { LlmError } from './llm-error.ts';
import { priceOf, usdOf } from './pricing.ts';
import { createRawInputs } from './raw-inputs.ts';
import { requestBody } from './request-body.ts';
import { type AssistantContent, type ModelStop, NO_USAGE, type Spent, type TokenUsage } from './types.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

export interface AnthropicOptions {
  readonly apiKey: string;
  /** Any server that speaks the Messages API; a path prefix is kept. Default: Anthropic's own. */
  readonly baseUrl?: string | undefined;
  /** Default `DEFAULT_IDLE_MS`. */
  readonly idleMs?: number;
  /** For the look-up of what a model can do; it stands before the first message only. Default 3 s. */
  readonly lookUpMs?: number;
  /** For the record. Default `anthropic`. */
  readonly name?: string;
  /** Sends each request; for servers that want it signed. The key is still sent, unless it is empty. */
  readonly fetch?: typeof fetch;
}

const DEFAULT_BASE_URL = 'https://api.anthropic.com';

/** The Messages API by the vendor's SDK: one attempt at a time, with an idle watchdog the SDK does not have. */
export function createAnthropicBackend(options: AnthropicOptions): ModelBackend {
  const given = {
    // Some write the version into it, which the SDK adds itself.
    baseURL: (options.baseUrl ?? DEFAULT_BASE_URL).replace(/(\/v1)?\/*$/, ''),
    // Its own retries honour `retry-after` without a cap and never cover a stream that has begun.
    maxRetries: 0,
    // Its log would show request bodies; ours is written by the caller.
    logLevel: 'off',
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  } as const;
  let client = new Anthropic({ ...given, apiKey: options.apiKey, authToken: null });
  /** Gateways older than this SDK know the key only as `x-api-key`; the API itself takes the bearer token. */
  const olderClient = (): Anthropic =>
    new Anthropic({
      ...given,
      apiKey: null,
      authToken: null,
      defaultHeaders: { 'X-Api-Key': options.apiKey },
    });
  let olderTried = options.baseUrl === undefined;
  const capabilitiesOf = createCapabilityCache(async (model): Promise<ModelCapabilities> => {
    const timeout = options.lookUpMs ?? 3_000;
    return listedCapabilities(model, await client.models.retrieve(model, {}, { timeout }));
  });

  return {
    name: options.name ?? 'anthropic',
    async attempt(request, attempt) {
      const dog = startWatchdog(attempt, options.idleMs);
      try {
        const body = requestBody(request, await dog.orAbort(capabilitiesOf(request.model)));
        try {
          return await runMessage(client, body, attempt, dog);
        } catch (error) {
          if (olderTried || !(error instanceof LlmError) || !asksForApiKey(error)) throw error;
          olderTried = true;
          client = olderClient();
          return await runMessage(client, body, attempt, dog);
        }
      } finally {
        dog.stop();
      }
    },
    async countTokens(request, signal) {
      const { max_tokens: _, ...counted } = requestBody(request, await capabilitiesOf(request.model));
      try {
        return (await client.messages.countTokens(counted, { signal, timeout: 10_000 })).input_tokens;
      } catch (error) {
        throw classifyError(error, { usage: NO_USAGE, usd: 0 });
      }
    },
  };
}

function asksForApiKey({ code, message }: LlmError): boolean {
  return code === 'LLM_AUTH' && /api.?key/i.test(message);
}

/** One message over the stream, to its end or the watchdog's. */
async function runMessage(
  client: Anthropic,
  body: Anthropic.MessageCreateParamsNonStreaming,
  { onEvent, timeoutMs }: AttemptOptions,
  dog: Watchdog,
): Promise<AttemptResult> {
  dog.signal.throwIfAborted();
  const stream = client.messages.stream(body, { signal: dog.signal, timeout: timeoutMs });
  const inputs = createRawInputs();
  stream.on('connect', dog.touch);
  stream.on('streamEvent', (event) => {
    dog.touch();
    inputs.take(event);
    if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
      onEvent({ type: 'tool_use_started', name: event.content_block.name });
    }
  });
  stream.on('text', (delta) => onEvent({ type: 'text', delta }));
  stream.on('thinking', (delta) => onEvent({ type: 'thinking', delta }));
  try {
    return result(await stream.finalMessage(), body.model, stream.request_id ?? null, inputs.whole());
  } catch (error) {
    const spent = spentOn(stream.currentMessage, body.model);
    if (!dog.signal.aborted) throw classifyError(error, spent);
    const reason = dog.signal.reason as LlmError;
    throw new LlmError(reason.code, reason.message, { retryable: reason.retryable, spent, cause: error });
  }
}

function result(
  message: Anthropic.Message,
  asked: string,
  requestId: string | null,
  inputsWhole: boolean,
): AttemptResult {
  const usage = usageOf(message.usage);
  const model = pricedModel(message, asked);
  const stop = stopOf(message);
  if (!inputsWhole && stop.kind !== 'max_tokens') {
    // Such a call must not run, and such a turn could never be sent back: the API takes only objects as tool input.
    throw new LlmError('LLM_BAD_OUTPUT', 'the input of a tool call is not a whole JSON object', {
      retryable: true,
      requestId,
      spent: { usage, usd: usdOf(model, usage) ?? 0 },
    });
  }
  return { content: plain(message.content), stop, model: model, requestId, usage };
}

/** Plain JSON: what is stored, compared and echoed must not depend on getters of the SDK's objects. */
function plain(content: readonly Anthropic.ContentBlock[]): AssistantContent {
  return JSON.parse(JSON.stringify(content)) as AssistantContent;
}

function stopOf(message: Anthropic.Message): ModelStop {
  switch (message.stop_reason) {
    case 'end_turn':
    case 'stop_sequence':
      return { kind: 'end_turn' };
    case 'tool_use':
    case 'max_tokens':
    case 'pause_turn':
      return { kind: message.stop_reason };
    case 'model_context_window_exceeded':
      return { kind: 'context_exceeded' };
    case 'refusal':
      return {
        kind: 'refusal',
        category: message.stop_details?.category ?? null,
        explanation: message.stop_details?.explanation ?? null,
      };
    case null:
      throw new LlmError('LLM_STREAM_BROKEN', 'the message ended without a stop reason', { retryable: true });
    default:
      return { kind: 'unknown', reason: String(message.stop_reason) };
  }
}

/** Gateways name models their own way; what is charged is then the model that was asked for. */
function pricedModel({ model }: Partial<Pick<Anthropic.Message, 'model'>>, asked: string): string {
  return model !== undefined && priceOf(model) !== undefined ? model : asked;
}

/** Gateways leave numbers out; a missing one must not make the cost of an incident unknown. */
function usageOf(usage: Partial<Anthropic.Usage> | undefined): TokenUsage {
  const written = usage?.cache_creation_input_tokens ?? 0;
  const written1h = usage?.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  return {
    input: usage?.input_tokens ?? 0,
    cacheWrite5m: written - written1h,
    cacheWrite1h: written1h,
    cacheRead: usage?.cache_read_input_tokens ?? 0,
    output: usage?.output_tokens ?? 0,
    thinking: usage?.output_tokens_details?.thinking_tokens ?? 0,
  };
}

/** What an attempt had cost by the server's own count when it broke. */
function spentOn(message: Anthropic.Message | undefined, asked: string): Spent {
  if (message === undefined) return { usage: NO_USAGE, usd: 0 };
  const usage = usageOf(message.usage);
  return { usage, usd: usdOf(pricedModel(message, asked), usage) ?? 0 };
}
