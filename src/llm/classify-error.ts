import { APIConnectionError, APIError, APIUserAbortError } from '@anthropic-ai/sdk/error';
import { messageOf } from '../core/errors.ts';
import { LlmError, type LlmErrorCode } from './llm-error.ts';
import type { Spent } from './types.ts';

/** Turns whatever the SDK throws for one attempt into an `LlmError`. */
export function classifyError(error: unknown, spent: Spent): LlmError {
  if (error instanceof LlmError) return error;
  if (error instanceof APIUserAbortError) {
    return new LlmError('LLM_ABORTED', 'the model call was stopped', { spent, cause: error });
  }
  if (error instanceof APIConnectionError) {
    // The Bedrock clients wrap what their credentials reject with.
    if (error.cause instanceof LlmError) return error.cause;
    return new LlmError('LLM_UNREACHABLE', `no connection to the model API: ${reasonOf(error)}`, {
      retryable: true,
      spent,
      cause: error,
    });
  }
  if (error instanceof APIError) return classifyApiError(error, spent);
  // What the SDK throws once the stream has begun: torn sockets, early ends, bytes that are no events, tool input
  // that is no JSON. None of it can be told apart reliably; all of it may be asked again with the same body.
  return new LlmError('LLM_STREAM_BROKEN', `the model's answer broke off: ${reasonOf(error)}`, {
    retryable: true,
    spent,
    cause: error,
  });
}

function classifyApiError(error: APIError, spent: Spent): LlmError {
  const status = error.status as number | undefined;
  const code =
    status === undefined
      ? (CODE_OF_TYPE[error.type ?? ''] ?? 'LLM_BAD_REQUEST')
      : codeOfStatus(status, error.message);
  const forbidden = error.headers?.get('x-should-retry') === 'false';
  return new LlmError(code, error.message, {
    retryable: RETRYABLE.has(code) && !forbidden,
    retryAfterMs: retryAfterMs(error.headers),
    requestId: error.requestID ?? null,
    spent,
    cause: error,
  });
}

export const RETRYABLE: ReadonlySet<LlmErrorCode> = new Set<LlmErrorCode>([
  'LLM_RATE_LIMITED',
  'LLM_OVERLOADED',
  'LLM_UNAVAILABLE',
]);

export function codeOfStatus(status: number, message: string): LlmErrorCode {
  if (status === 401 || status === 403) return 'LLM_AUTH';
  if (status === 402) return 'LLM_BILLING';
  if (status === 404) return 'LLM_MODEL_UNKNOWN';
  if (status === 413) return 'LLM_CONTEXT_EXCEEDED';
  if (status === 429) return 'LLM_RATE_LIMITED';
  if (status === 529) return 'LLM_OVERLOADED';
  // 424: Bedrock's for a model that failed at the request.
  if (status === 408 || status === 409 || status === 424 || status >= 500) return 'LLM_UNAVAILABLE';
  if (/(prompt|input) is too long|context (window|limit)/i.test(message)) return 'LLM_CONTEXT_EXCEEDED';
  // Bedrock's words for a name that it does not know, or knows only by an inference profile.
  return /model identifier is invalid|on-demand throughput/i.test(message)
    ? 'LLM_MODEL_UNKNOWN'
    : 'LLM_BAD_REQUEST';
}

/** For an `error` event inside a stream, which has a type but no status. */
const CODE_OF_TYPE: Readonly<Record<string, LlmErrorCode>> = {
  overloaded_error: 'LLM_OVERLOADED',
  rate_limit_error: 'LLM_RATE_LIMITED',
  api_error: 'LLM_UNAVAILABLE',
  timeout_error: 'LLM_UNAVAILABLE',
  authentication_error: 'LLM_AUTH',
  permission_error: 'LLM_AUTH',
  billing_error: 'LLM_BILLING',
  // Exceptions of Bedrock's event stream (API_runtime_ResponseStream in its reference).
  throttlingException: 'LLM_RATE_LIMITED',
  serviceUnavailableException: 'LLM_OVERLOADED',
  internalServerException: 'LLM_UNAVAILABLE',
  modelStreamErrorException: 'LLM_UNAVAILABLE',
  modelTimeoutException: 'LLM_UNAVAILABLE',
};

/** `retry-after-ms`, or `retry-after` as seconds or an HTTP date (RFC 9110 §10.2.3). */
export function retryAfterMs(headers: Headers | undefined): number | null {
  const exact = Number(headers?.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const header = headers?.get('retry-after');
  if (header === undefined || header === null) return null;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? ` (${messageOf(error.cause)})` : '';
  return `${messageOf(error)}${cause}`;
}
