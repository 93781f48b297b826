import { createHmac } from 'node:crypto';
import { SENTRY_APP } from './seed.ts';
import type { Ack, Envelope, Transport } from './transport.ts';

interface DeliveryParts {
  readonly url: () => string;
  readonly ackMs: () => number;
  readonly whenThawed: () => Promise<void>;
}

/** Signed requests to the app's one request URL (Bolt takes events, interactions and commands on the same). */
export class HttpDelivery implements Transport {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  async send(envelope: Envelope): Promise<Ack> {
    await this.#parts.whenThawed();
    const { type, body } = encode(envelope);
    const retry =
      envelope.attempt === 0
        ? {}
        : { 'x-slack-retry-num': String(envelope.attempt), 'x-slack-retry-reason': envelope.retryReason };
    try {
      const response = await fetch(this.#parts.url(), {
        method: 'POST',
        headers: { 'content-type': type, ...signatureOf(body), ...retry },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(this.#parts.ackMs()),
      });
      const answer = await response.text();
      if (response.status !== 200) {
        const noRetry = response.headers.get('x-slack-no-retry') === '1';
        return { acked: false, reason: 'http_error', noRetry };
      }
      return { acked: true, body: decode(answer, response.headers.get('content-type') ?? '') };
    } catch (error) {
      // The app being away or slow is an expected outcome here; the caller retries by the reason.
      const timedOut = error instanceof Error && error.name === 'TimeoutError';
      return { acked: false, reason: timedOut ? 'http_timeout' : 'connection_failed', noRetry: false };
    }
  }

  /** Slack's check when a request URL is set: the app must echo the challenge. */
  async verify(challenge: string): Promise<boolean> {
    const payload = { token: SENTRY_APP.verificationToken, challenge, type: 'url_verification' };
    const ack = await this.send({
      kind: 'event',
      payload,
      acceptsResponse: true,
      attempt: 0,
      retryReason: '',
    });
    if (!ack.acked) return false;
    const { body } = ack;
    if (typeof body === 'object' && body !== null && 'challenge' in body) return body.challenge === challenge;
    return body === challenge;
  }
}

/** `v0` signature (docs.slack.dev/authentication/verifying-requests-from-slack). */
function signatureOf(body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const hmac = createHmac('sha256', SENTRY_APP.signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${hmac}` };
}

function encode(envelope: Envelope): { readonly type: string; readonly body: string } {
  const form = 'application/x-www-form-urlencoded';
  switch (envelope.kind) {
    case 'event':
      return { type: 'application/json', body: JSON.stringify(envelope.payload) };
    case 'interactive':
      return {
        type: form,
        body: new URLSearchParams({ payload: JSON.stringify(envelope.payload) }).toString(),
      };
    case 'command': {
      const pairs = Object.entries(envelope.payload).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      return { type: form, body: new URLSearchParams(pairs).toString() };
    }
  }
}

/** JSON when it says so, text otherwise; nothing for an empty body. */
function decode(answer: string, type: string): unknown {
  if (answer === '') return undefined;
  if (!type.includes('json')) return answer;
  try {
    return JSON.parse(answer) as unknown;
  } catch {
    return undefined;
  }
}
