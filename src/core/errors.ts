/**
 * A fault somebody has to act on. Expected refusals are values (see `Refusal`), never this.
 *
 * - `code`: stable, SCREAMING_SNAKE, what scripts and tests match on.
 * - `retryable`: the same call may succeed later without anybody changing anything.
 * - `hint`: the operator's next step, a full sentence.
 */
export class OpsError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly hint: string;

  constructor(
    code: string,
    message: string,
    options: { readonly hint: string; readonly retryable?: boolean; readonly cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'OpsError';
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.hint = options.hint;
  }
}

/** An expected "no": goes back to the caller as a value, with a code to match on and a reason to read. */
export interface Refusal {
  readonly ok: false;
  readonly code: string;
  readonly reason: string;
  /** It is no for now only. */
  readonly wait?: LimitedUntil;
}

/** A limit keeps it from being done now, and lets it from a moment on. */
export type LimitedUntil = {
  /** ISO 8601, by the database's clock. */
  readonly until: string;
  /** The limit, for people: a whole sentence. */
  readonly limit: string;
};

export function refuse(code: string, reason: string): Refusal {
  return { ok: false, code, reason };
}

/** A refusal that comes once a tool already runs is a failed call. */
export function orThrow<T extends { readonly ok: true }>(given: T | Refusal): T {
  if (given.ok) return given;
  throw new OpsError(given.code, given.reason, { hint: 'Ask for something else, or look by hand.' });
}

/** Whether a code says that what was to be acted on is there no more. */
export const isGoneCode = (code: string | null): boolean => code === 'GONE';

/** Whether a read failed because what it names is not there: no container, object of a cluster, unit or file of that name. */
export const isNotThereCode = (code: string): boolean =>
  isGoneCode(code) || code === 'PATH_MISSING' || code.endsWith('_NOT_FOUND');

/** The message of anything thrown, for a log line or a reason; never the stack. Never throws, whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    // Read once: a message may be a getter, and need not be text. Some libraries throw plain objects with one.
    const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
    return String(hasMessage ? error.message : error);
  } catch {
    return 'Something was thrown that cannot be put into words.';
  }
}
