import { isObject } from '../../core/json-of.ts';
import type { Json } from '../../core/tool-call.ts';
import { redact, redactJson } from './redact.ts';

const WITHHELD = '[withheld: it could not be screened for secrets]';

/**
 * The one way out (promise 6): whatever goes to Slack, the log, memory or the audit log passes here last, whatever was
 * done to it before, and to a model through `safety/model-guard`. Never throws and fails closed: what cannot be
 * screened is withheld. A text that holds no secret comes out unchanged.
 */
export function outwardText(text: string): string {
  try {
    return redact(text);
  } catch {
    return WITHHELD;
  }
}

/**
 * The same for a value: every string in it, and every key. `own`: top-level fields that hold nothing but identifiers and
 * signatures of ours, which look like secrets and are none; they stay.
 */
export function outwardJson(value: Json, own: ReadonlySet<string> = NONE): Json {
  try {
    if (value === null || typeof value !== 'object' || Array.isArray(value) || own.size === 0)
      return redactJson(value);
    const entries = Object.entries(value as Record<string, Json>);
    const screened = redactJson(Object.fromEntries(entries.filter(([key]) => !own.has(key))));
    const kept = Object.fromEntries(entries.filter(([key]) => own.has(key)));
    return { ...(screened as Record<string, Json>), ...kept };
  } catch {
    return WITHHELD;
  }
}

/** The same, where `own` may stand at any depth: what goes into the record holds its ids everywhere. */
export function outwardRecord<T>(value: T, own: ReadonlySet<string>): T {
  return grafted(value as Json, outwardJson(value as Json), own) as T;
}

/** `screened` with what stands under the keys of `own` in `value`; both have one form, for screening changes texts only. */
function grafted(value: Json, screened: Json, own: ReadonlySet<string>): Json {
  if (Array.isArray(value) && Array.isArray(screened))
    return screened.map((item: Json, n) => grafted((value as readonly Json[])[n] ?? null, item, own));
  if (!isObject(value) || !isObject(screened)) return screened;
  return Object.fromEntries(
    Object.entries(screened).map(([key, item]) => {
      const was = Object.hasOwn(value, key) ? value[key] : undefined;
      if (was === undefined) return [key, item];
      return [key, own.has(key) ? was : grafted(was, item, own)];
    }),
  );
}

const NONE: ReadonlySet<string> = new Set();
