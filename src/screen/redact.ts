import type { Json } from '../domain/tool-call.ts';
import { findSecrets } from './find-secrets.ts';

/** Replaces every secret by `[redacted:<rule>]`; text without one comes back unchanged. */
export function redact(text: string): string {
  const findings = findSecrets(text);
  if (findings.length === 0) return text;
  let out = '';
  let at = 0;
  for (const { start, end, rule } of findings) {
    out += `${text.slice(at, start)}[redacted:${rule}]`;
    at = end;
  }
  return out + text.slice(at);
}

/** The same in every string of a value; keys are redacted too, since tool results are often keyed by what was found. */
export function redactJson(value: Json): Json {
  if (typeof value === 'string') return redact(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Json) => redactJson(item));
  return Object.fromEntries(
    Object.entries(value as Record<string, Json>).map(([key, item]) => [redact(key), redactJson(item)]),
  );
}
