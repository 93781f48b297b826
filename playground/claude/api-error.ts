/** An answer of the API that is not a message: status, error type and message as the real one words them. */
export interface ApiProblem {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  /** `error.details.error_code`, where the API gives one. */
  readonly code?: string;
}

export function invalid(message: string, code?: string): ApiProblem {
  return { status: 400, type: 'invalid_request_error', message, ...(code === undefined ? {} : { code }) };
}

export function notFound(path: string): ApiProblem {
  return { status: 404, type: 'not_found_error', message: `no such route: ${path}` };
}

/** Error `type` by HTTP status, from the API's error reference. */
export const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export function errorBody({ type, message, code }: ApiProblem, requestId: string): string {
  const details = code === undefined ? {} : { details: { error_code: code } };
  return JSON.stringify({ type: 'error', error: { type, message, ...details }, request_id: requestId });
}
