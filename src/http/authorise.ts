import { createHmac } from 'node:crypto';
import { timingSafeEqual } from '../safety/timing-safe-equal.ts';
import type { Signature } from '../sources/ports.ts';
import type { HttpAnswer, HttpHead, HttpRequest } from './route.ts';

/**
 * Whether a webhook's sender may be listened to: null lets the request pass. Without a configured secret only this machine
 * may call. `in_body`: it signs, so its body has to tell (`isSigned`).
 */
export function authoriseWebhook(
  head: HttpHead,
  secret: string | null,
  signature?: Signature,
): HttpAnswer | 'in_body' | null {
  if (secret === null)
    return head.isLoopback
      ? null
      : unauthorised(
          'SENTRY_WEBHOOK_SECRET is not set, so only this machine may call: set it, and send it as a bearer token',
        );
  if (givenSecrets(head).some((given) => timingSafeEqual(given.trim(), secret))) return null;
  if (signature && head.headers[signature.header] !== undefined) return 'in_body';
  return unauthorised('expected the webhook secret: docs/alert-sources.md says where it may stand');
}

/** Whether the sender signed these bytes with the secret, by HMAC-SHA256 in hexadecimal digits (RFC 2104). */
export function isSigned({ headers, body }: HttpRequest, secret: string, signature: Signature): boolean {
  const expected = signature.prefix + createHmac('sha256', secret).update(body).digest('hex');
  // PagerDuty sends one for every secret while they change, with commas between.
  return String(headers[signature.header])
    .split(',')
    .some((given) => timingSafeEqual(given.trim(), expected));
}

export function unauthorised(error: string): HttpAnswer {
  // Amazon SNS presents what its URL holds only to who asks for it.
  return { status: 401, headers: { 'www-authenticate': 'Bearer, Basic realm="Sentry"' }, body: { error } };
}

/** What may be the secret: a bearer token, a header of ours, the password of a URL, or its `secret`. */
function givenSecrets({ headers, query }: HttpHead): readonly string[] {
  const [, scheme = '', credentials = ''] = /^(\w+)\s+(.+)$/.exec(headers.authorization ?? '') ?? [];
  const basic = scheme.toLowerCase() === 'basic' ? Buffer.from(credentials, 'base64').toString('utf8') : '';
  return [
    scheme.toLowerCase() === 'bearer' ? credentials : undefined,
    headers['x-sentry-secret'],
    basic.includes(':') ? basic.slice(basic.indexOf(':') + 1) : undefined,
    query.get('secret') ?? undefined,
  ].filter((given) => typeof given === 'string');
}
