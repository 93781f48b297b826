/** An answer of the API that is not a message: status, error type and message as the real one words them. */
export interface ApiProblem {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

export function invalid(message: string): ApiProblem {
  return { status: 400, type: 'invalid_request_error', message };
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

export function errorBody(type: string, message: string, requestId: string): string {
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId });
}
