import type { OpsError } from '../../core/errors.ts';
import type { LimitKind } from '../loop/types.ts';

const FAILURES: Readonly<Record<string, string>> = {
  LLM_AUTH: 'the model API does not accept the key',
  LLM_CREDENTIALS: 'there are no AWS credentials to sign with',
  LLM_BILLING: 'the model API asks for payment',
  LLM_BAD_REQUEST: 'the model API refused the request',
  LLM_MODEL_UNKNOWN: 'the model API does not know the model',
  LLM_CONTEXT_EXCEEDED: 'there was more to read than the model can hold',
  LLM_RATE_LIMITED: 'the model’s rate limit is reached',
  LLM_OVERLOADED: 'the model is overloaded',
  LLM_UNAVAILABLE: 'the model API answers with server errors',
  LLM_UNREACHABLE: 'the model API cannot be reached',
  LLM_STREAM_BROKEN: 'the model’s answer broke off in the middle, again and again',
  LLM_STALLED: 'the model stopped in the middle of its answer',
  LLM_BAD_OUTPUT: 'the model wrote a tool call that cannot be read',
  LLM_WITHHELD: 'something could not be screened for secrets, so the model was not asked',
  LLM_DEADLINE: 'the model did not answer in time',
  AGENT_BAD_REPORT: 'the model’s report stayed invalid',
  AGENT_NO_REPORT: 'the model stopped without a conclusion',
  AGENT_EMPTY: 'the model answered with nothing',
  AGENT_UNKNOWN_STOP: 'the model stopped for an unknown reason',
};

/** Why a model could not go on, for people; the error itself goes to the log. */
export function formatFailure(error: OpsError): string {
  // Of budgets the error itself says which one it was.
  if (error.code === 'LLM_BUDGET') return error.message.replace(/\.$/, '');
  return FAILURES[error.code] ?? `the model failed (${error.code})`;
}

const LIMITS: Readonly<Record<LimitKind, string>> = {
  turns: 'the model came to no conclusion in the turns it has',
  toolCalls: 'the model came to no conclusion with the tool calls it has',
  tokens: 'the model came to no conclusion with the tokens it has',
  usd: 'the model came to no conclusion for the money it may cost',
  wallMs: 'the model came to no conclusion in the time it has',
  no_progress: 'the model made no progress: its calls failed, were refused, or only repeated earlier ones',
  max_tokens: 'the model’s answer kept being too long',
  context: 'there was more to read than the model can hold',
};

export function formatLimit(limit: LimitKind): string {
  return LIMITS[limit];
}
