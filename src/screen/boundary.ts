import type { Json } from '../domain/tool-call.ts';
import { redact, redactJson } from './redact.ts';

const WITHHELD = '[withheld: it could not be screened for secrets]';

/**
 * The one way out (promise 6): whatever goes to Slack, the log, memory or the audit log passes here last, whatever was
 * done to it before, and to a model through `security/model-guard`. Never throws and fails closed: what cannot be
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

const NONE: ReadonlySet<string> = new Set();
