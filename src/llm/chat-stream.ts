import { z } from 'zod';
import { isObject, jsonOf } from '../core/json-of.ts';
import type { AttemptOptions, AttemptResult } from './backend.ts';
import { LlmError, type LlmErrorCode } from './llm-error.ts';
import { tokens } from './message-usage.ts';
import { priceOf, spentOn } from './pricing.ts';
import { splitThinking } from './split-thinking.ts';
import { type AssistantBlock, type ModelStop, NO_USAGE, type TokenUsage } from './types.ts';

const Chunk = z.object({
  model: z.string().optional(),
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            tool_calls: z
              .array(
                z.object({
                  index: z.number().default(0),
                  id: z.string().nullish(),
                  function: z
                    .object({ name: z.string().nullish(), arguments: z.string().nullish() })
                    .default({}),
                }),
              )
              .nullish(),
          })
          .default({}),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: z
    .object({
      prompt_tokens: z.number().default(0),
      completion_tokens: z.number().default(0),
      prompt_tokens_details: z.object({ cached_tokens: z.number().default(0) }).nullish(),
    })
    .nullish(),
  error: z.unknown().optional(),
});

/** Reads one OpenAI-style stream to its `[DONE]`. Throws `LlmError` for whatever is not a whole message. */
export async function readChatStream(
  body: AsyncIterable<Uint8Array>,
  asked: string,
  requestId: string | null,
  onEvent: AttemptOptions['onEvent'],
  touch: () => void,
): Promise<AttemptResult> {
  const calls = new Map<number, { id: string; name: string; args: string }>();
  const said = splitThinking(onEvent);
  let usage: TokenUsage = NO_USAGE;
  let model = asked;
  let finish: string | null = null;
  let done = false;
  const spent = () => spentOn(model, usage);
  const broken = (what: string) =>
    new LlmError('LLM_STREAM_BROKEN', what, { retryable: true, requestId, spent: spent() });

  for await (const data of sseData(body)) {
    touch();
    if (data === '[DONE]') {
      done = true;
      break;
    }
    const chunk = Chunk.safeParse(jsonOf(data));
    if (!chunk.success) throw broken('the gateway sent what is no chunk of a message');
    if (chunk.data.error !== undefined) throw chunkError(chunk.data.error, requestId, spent());
    if (chunk.data.model !== undefined && priceOf(chunk.data.model) !== undefined) model = chunk.data.model;
    if (chunk.data.usage) usage = usageOf(chunk.data.usage);
    for (const { delta, finish_reason } of chunk.data.choices) {
      if (delta.content) said.take(delta.content);
      for (const part of delta.tool_calls ?? []) {
        // Any number may stand here: the gateway counts blocks, not calls, and may begin below zero.
        let call = calls.get(part.index);
        if (call === undefined) {
          call = { id: '', name: '', args: '' };
          calls.set(part.index, call);
          if (part.function.name) onEvent({ type: 'tool_use_started', name: part.function.name });
        }
        call.id ||= part.id ?? '';
        call.name ||= part.function.name ?? '';
        call.args += part.function.arguments ?? '';
      }
      finish = finish_reason ?? finish;
    }
  }
  if (finish === null || !done) throw broken('the stream ended before the message did');
  const stop = stopOf(finish);
  const content = said.end();
  for (const call of calls.values()) {
    const input = call.args === '' ? {} : jsonOf(call.args);
    const whole = isObject(input);
    if ((!whole || call.id === '' || call.name === '') && stop.kind !== 'max_tokens')
      throw new LlmError('LLM_BAD_OUTPUT', 'the input of a tool call is not a whole JSON object', {
        retryable: true,
        requestId,
        spent: spent(),
      });
    content.push({ type: 'tool_use', id: call.id, name: call.name, input: whole ? input : {} });
  }
  return { content: content satisfies AssistantBlock[], stop, model, requestId, usage };
}

function stopOf(finish: string): ModelStop {
  switch (finish) {
    case 'stop':
      return { kind: 'end_turn' };
    case 'tool_calls':
      return { kind: 'tool_use' };
    case 'length':
      return { kind: 'max_tokens' };
    case 'content_filter':
      return { kind: 'refusal', category: null, explanation: null };
    default:
      return { kind: 'unknown', reason: finish };
  }
}

function usageOf(usage: NonNullable<z.infer<typeof Chunk>['usage']>): TokenUsage {
  const cacheRead = tokens(usage.prompt_tokens_details?.cached_tokens);
  return {
    ...NO_USAGE,
    input: Math.max(0, tokens(usage.prompt_tokens) - cacheRead),
    cacheRead,
    output: tokens(usage.completion_tokens),
  };
}

/** Once a stream has begun the gateway can say what is wrong only in words. */
function chunkError(error: unknown, requestId: string | null, spent: LlmError['spent']): LlmError {
  const message = typeof error === 'string' ? error : JSON.stringify(error);
  const code: LlmErrorCode = /throttl|too many|rate/i.test(message)
    ? 'LLM_RATE_LIMITED'
    : /overload|capacity|unavailable|timeout|internal/i.test(message)
      ? 'LLM_OVERLOADED'
      : /too long|context/i.test(message)
        ? 'LLM_CONTEXT_EXCEEDED'
        : 'LLM_BAD_REQUEST';
  const retryable = code === 'LLM_RATE_LIMITED' || code === 'LLM_OVERLOADED';
  return new LlmError(code, `the gateway says: ${message.slice(0, 300)}`, { retryable, requestId, spent });
}

/** The payloads of a `data:`-only event stream (OpenAI's kind), however its bytes are torn; comments are left out. */
async function* sseData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data:')) yield line.slice(5).trim();
  }
}
