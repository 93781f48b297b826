import { anySignal } from '../core/any-signal.ts';
import { jsonOf } from '../core/json-of.ts';
import { readUpTo } from '../core/read-up-to.ts';
import { whyNot } from '../core/system-fault.ts';

export interface ServiceRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
  /** Left out: ten seconds. */
  readonly timeoutMs?: number | undefined;
}

export type ServiceAnswer =
  | {
      readonly status: number;
      /** Empty where it was too long, or broke off: what the status says is so all the same. */
      readonly text: string;
      /** The text as JSON; undefined: it is none. */
      readonly json: unknown;
      readonly retryAfterMs?: number;
    }
  /** Nothing came; `why` ends a sentence that begins with the service. */
  | { readonly status: null; readonly why: string };

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const LONGEST_WAIT_MS = 3_600_000;

/**
 * One request to a service that the operator has named, with a key that goes nowhere else: no redirect is followed. Never throws.
 */
export async function callService(request: ServiceRequest, signal: AbortSignal): Promise<ServiceAnswer> {
  const { method, url, headers, body, timeoutMs = TIMEOUT_MS } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: anySignal([signal, timeout]),
    });
    const retryAfterMs = waitOf(response.headers.get('retry-after'), Date.now());
    const text = await textOf(response);
    return {
      status: response.status,
      text,
      json: jsonOf(text),
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    };
  } catch (error) {
    if (signal.aborted) return { status: null, why: 'was not waited for: Sentry stops' };
    if (timeout.aborted) return { status: null, why: `did not answer in ${timeoutMs / 1_000} s` };
    // `fetch` itself says only that it failed.
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return { status: null, why: `cannot be reached: ${whyNot(cause)}` };
  }
}

async function textOf({ body }: Response): Promise<string> {
  try {
    return (body === null ? null : await readUpTo(body, MAX_BYTES))?.toString('utf8') ?? '';
  } catch {
    // The status has come, and is what counts.
    return '';
  }
}

/** Of `Retry-After` (RFC 9110, 10.2.3): seconds, or a date. An hour at most; null: it says nothing. */
function waitOf(header: string | null, now: number): number | null {
  if (header === null) return null;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), LONGEST_WAIT_MS);
}
