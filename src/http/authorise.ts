import { timingSafeEqual } from '../safety/timing-safe-equal.ts';
import type { HttpAnswer, HttpHead } from './route.ts';

/**
 * The shared secret of a webhook, as `Authorization: Bearer …` or `X-Sentry-Secret`; without a configured secret only
 * this machine may call. Null lets the request pass.
 */
export function authoriseWebhook(head: HttpHead, secret: string | null): HttpAnswer | null {
  if (secret === null) {
    if (head.isLoopback) return null;
    return {
      status: 401,
      body: {
        error:
          'SENTRY_WEBHOOK_SECRET is not set, so only this machine may call: set it, and send it as a bearer token',
      },
    };
  }
  const bearer = /^Bearer\s+(.+)$/i.exec(head.headers.authorization ?? '')?.[1];
  const header = head.headers['x-sentry-secret'];
  const given = bearer ?? (typeof header === 'string' ? header : undefined);
  if (given !== undefined && timingSafeEqual(given.trim(), secret)) return null;
  return {
    status: 401,
    headers: { 'www-authenticate': 'Bearer' },
    body: { error: 'expected the webhook secret as "Authorization: Bearer …" or "X-Sentry-Secret: …"' },
  };
}
