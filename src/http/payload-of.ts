import { messageOf } from '../core/errors.ts';
import type { BadInput } from '../sources/ports.ts';
import type { HttpRequest } from './route.ts';

/** What a webhook's body says, whatever its sender calls it: JSON, a form, or the text as it stands. */
export function payloadOf({ headers, body }: HttpRequest): { readonly value: unknown } | BadInput {
  // Windows puts a byte order mark before what it writes.
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  const type = headers['content-type'] ?? '';
  if (/^application\/x-www-form-urlencoded\b/i.test(type))
    return { value: Object.fromEntries(new URLSearchParams(text)) };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    // Amazon SNS sends JSON as text/plain; Robusta sends text without any type.
    if (!/\bjson\b/i.test(type)) return { value: text };
    return { ok: false, field: '', reason: `not valid JSON: ${messageOf(error)}` };
  }
}
