import { messageOf } from '../core/errors.ts';
import type { ModelBackend } from './backend.ts';
import { chatBody } from './chat-body.ts';
import { readChatStream } from './chat-stream.ts';
import { codeOfStatus, RETRYABLE, retryAfterMs } from './classify-error.ts';
import { noCompaction } from './compaction.ts';
import { LlmError, withSpent } from './llm-error.ts';
import { BYTES_PER_TOKEN, estimatedTokens } from './message-usage.ts';
import { spentOn } from './pricing.ts';
import { NO_USAGE, NOTHING_SPENT, type Spent, totalTokens } from './types.ts';
import { startWatchdog } from './watchdog.ts';

export interface AccessGatewayOptions {
  readonly apiKey: string;
  /** Up to, not including, `/chat/completions`: `https://gateway.internal/api/v1`. */
  readonly baseUrl: string;
  readonly idleMs?: number;
}

/**
 * The Bedrock Access Gateway (aws-samples) and other servers that speak only OpenAI's chat completions. Reduced: no
 * thinking is asked for or sent back, no effort, no prompt cache of ours. Fit for older models; the Messages API of
 * Bedrock (`createBedrockBackend`) is better wherever it can be reached.
 */
export function createAccessGatewayBackend(options: AccessGatewayOptions): ModelBackend {
  const url = `${options.baseUrl.replace(/\/+$/, '').replace(/\/chat\/completions$/, '')}/chat/completions`;
  return {
    name: 'access-gateway',
    async attempt(request, attempt) {
      if (request.compaction !== undefined) throw noCompaction('chat completions have no such thing');
      const dog = startWatchdog(attempt, options.idleMs);
      const body = chatBody(request);
      let began = false;
      let seenBytes = 0;
      const spent = (): Spent => (began ? estimatedSpent(request.model, body, seenBytes) : NOTHING_SPENT);
      try {
        dog.signal.throwIfAborted();
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${options.apiKey}` },
          body: JSON.stringify(body),
          // Of the incident and the key, nothing goes anywhere but where the operator said. It is answered as any status is.
          redirect: 'manual',
          signal: dog.signal,
        });
        dog.touch();
        const requestId = response.headers.get('x-request-id');
        if (!response.ok) throw await statusError(response, requestId);
        if (response.body === null)
          throw new LlmError('LLM_STREAM_BROKEN', 'an empty answer', { retryable: true });
        const onEvent: typeof attempt.onEvent = (event) => {
          if ('delta' in event) seenBytes += Buffer.byteLength(event.delta);
          attempt.onEvent(event);
        };
        const touch = () => {
          began = true;
          dog.touch();
        };
        return await readChatStream(response.body, request.model, requestId, onEvent, touch);
      } catch (error) {
        const failed =
          error instanceof LlmError
            ? error
            : dog.signal.aborted
              ? (dog.signal.reason as LlmError)
              : transportError(error);
        throw totalTokens(failed.spent.usage) > 0 ? failed : withSpent(failed, spent());
      } finally {
        dog.stop();
      }
    },
    countTokens: (request) => Promise.resolve(estimatedTokens(chatBody(request))),
  };
}

/** A chat completion says only at its end what it used: for one that breaks off earlier the cost is estimated. */
function estimatedSpent(model: string, body: object, seenBytes: number): Spent {
  const usage = { ...NO_USAGE, input: estimatedTokens(body), output: Math.ceil(seenBytes / BYTES_PER_TOKEN) };
  return spentOn(model, usage);
}

async function statusError(response: Response, requestId: string | null): Promise<LlmError> {
  const text = (await response.text()).slice(0, 500);
  const code = codeOfStatus(response.status, text);
  return new LlmError(code, `the gateway answers ${response.status}: ${text}`, {
    retryable: RETRYABLE.has(code),
    retryAfterMs: retryAfterMs(response.headers),
    requestId,
  });
}

/** `fetch failed` before the first byte; `terminated` within the body. */
function transportError(error: unknown): LlmError {
  const reason = messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
  const before = messageOf(error).includes('fetch failed');
  return new LlmError(before ? 'LLM_UNREACHABLE' : 'LLM_STREAM_BROKEN', `the gateway: ${reason}`, {
    retryable: true,
    cause: error,
  });
}
