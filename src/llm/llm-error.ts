import { OpsError } from '../core/errors.ts';
import { NOTHING_SPENT, type Spent } from './types.ts';

export type LlmErrorCode =
  | 'LLM_ABORTED'
  | 'LLM_AUTH'
  | 'LLM_CREDENTIALS'
  | 'LLM_BILLING'
  | 'LLM_BAD_REQUEST'
  | 'LLM_MODEL_UNKNOWN'
  | 'LLM_CONTEXT_EXCEEDED'
  | 'LLM_NO_COMPACTION'
  | 'LLM_RATE_LIMITED'
  | 'LLM_OVERLOADED'
  | 'LLM_UNAVAILABLE'
  | 'LLM_UNREACHABLE'
  | 'LLM_STREAM_BROKEN'
  | 'LLM_STALLED'
  | 'LLM_BAD_OUTPUT'
  | 'LLM_DEADLINE'
  | 'LLM_BUDGET'
  | 'LLM_WITHHELD';

const HINTS: Readonly<Record<LlmErrorCode, string>> = {
  LLM_ABORTED: 'Nothing to do: the call was stopped on purpose.',
  LLM_AUTH:
    'Check ANTHROPIC_API_KEY (keys are made at https://platform.claude.com) or, for Amazon Bedrock, the API key or AWS credentials and their right to invoke the model: they were not accepted.',
  LLM_CREDENTIALS:
    'Amazon Bedrock needs AWS_BEARER_TOKEN_BEDROCK, or credentials where AWS looks for them: environment, profile, role.',
  LLM_BILLING: 'Check the billing of the Anthropic account: the API asks for payment.',
  LLM_BAD_REQUEST:
    'The API refused the request as it is; this is a defect of Sentry. Report it with the request id.',
  LLM_MODEL_UNKNOWN:
    'Check SENTRY_MODEL and ANTHROPIC_BASE_URL (on Amazon Bedrock also AWS_REGION): the API does not know this model or path.',
  LLM_CONTEXT_EXCEEDED:
    'The investigation outgrew the model’s context; start a new one with a narrower question.',
  LLM_NO_COMPACTION: 'Nothing to do: Sentry sums the history up itself.',
  LLM_RATE_LIMITED: 'The account’s rate limit is reached; wait, or raise it with Anthropic.',
  LLM_OVERLOADED: 'The model is overloaded; it usually recovers within minutes.',
  LLM_UNAVAILABLE: 'The API answers with server errors; see https://status.claude.com.',
  LLM_UNREACHABLE: 'Check the network, the proxy and ANTHROPIC_BASE_URL: no connection to the API.',
  LLM_STREAM_BROKEN:
    'The connection to the API breaks while it answers; check proxies between here and there.',
  LLM_STALLED: 'The API stopped sending in the middle of an answer; check proxies between here and there.',
  LLM_BAD_OUTPUT: 'The model wrote a tool call that is not JSON; try again or choose another model.',
  LLM_WITHHELD: 'Runbooks go on; look at the incident by hand.',
  LLM_BUDGET:
    'Runbooks go on. `/sentry cost` says where it went; SENTRY_COST_LIMIT and its neighbours set what may be spent.',
  LLM_DEADLINE: 'The model did not finish in the time it was given; raise the limit or lower the effort.',
};

/** A model call that failed for good or, inside the gateway, one attempt of it. `spent`: what it cost nevertheless. */
export class LlmError extends OpsError {
  override readonly code: LlmErrorCode;
  readonly spent: Spent;
  /** How long the server asked us to wait, ms. */
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;

  constructor(
    code: LlmErrorCode,
    message: string,
    options: {
      readonly retryable?: boolean;
      readonly retryAfterMs?: number | null;
      readonly requestId?: string | null;
      readonly spent?: Spent;
      readonly cause?: unknown;
    } = {},
  ) {
    super(code, message, {
      hint: HINTS[code],
      retryable: options.retryable ?? false,
      ...(options.cause === undefined ? {} : { cause: options.cause }),
    });
    this.name = 'LlmError';
    this.code = code;
    this.spent = options.spent ?? NOTHING_SPENT;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.requestId = options.requestId ?? null;
  }
}

/** The same error, with what it cost. */
export function withSpent(error: LlmError, spent: Spent): LlmError {
  return new LlmError(error.code, error.message, {
    retryable: error.retryable,
    retryAfterMs: error.retryAfterMs,
    requestId: error.requestId,
    spent,
    cause: error.cause,
  });
}
