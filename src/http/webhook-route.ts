import type { Alert } from '../core/alert.ts';
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Accept, Accepted } from '../ingest/accept.ts';
import type { AlertSource } from '../sources/ports.ts';
import { authoriseWebhook } from './authorise.ts';
import type { HttpMetrics } from './ports.ts';
import type { HttpAnswer, Route } from './route.ts';

/** Alertmanager gives a webhook as long as its group interval; five seconds is what a person would call hanging. */
const ACCEPT_TIMEOUT_MS = 5_000;
/** A storm of 2,000 alerts in one group stays below this. */
const BODY_LIMIT = 4 * 1024 * 1024;

export interface WebhookOptions {
  readonly source: AlertSource;
  readonly accept: Accept;
  /** Null: only this machine may call. */
  readonly secret: string | null;
  readonly log: Log;
  readonly metrics?: HttpMetrics;
  readonly timeoutMs?: number;
}

/** `POST /webhooks/<source>`: 202 once every alert of the payload is durable, else 503 so that the sender tries again. */
export function webhookRoute(options: WebhookOptions): Route {
  const { source, accept, secret, log, metrics } = options;
  const timeoutMs = options.timeoutMs ?? ACCEPT_TIMEOUT_MS;
  const accepted = metrics?.counter(
    'sentry_alerts_accepted_total',
    'Alerts accepted, by source and what they became.',
  );
  return {
    method: 'POST',
    path: `/webhooks/${source.name}`,
    bodyLimit: BODY_LIMIT,
    mediaTypes: ['application/json'],
    admit: (head) => authoriseWebhook(head, secret),
    async handle({ body }) {
      let payload: unknown;
      try {
        payload = JSON.parse(body.toString('utf8'));
      } catch (error) {
        return badRequest('', `not valid JSON: ${messageOf(error)}`);
      }
      const read = source.read(payload, { receivedAt: new Date() });
      if (!read.ok) return badRequest(read.field, read.reason);
      const results = await within(timeoutMs, Promise.all(read.alerts.map(acceptOne)));
      if (results === 'too_slow' || results === 'failed') return tryAgain();
      return {
        status: 202,
        body: { accepted: results.map(({ kind, incidentId }) => ({ kind, incident: incidentId })) },
      };
    },
  };

  async function acceptOne(alert: Alert): Promise<Accepted> {
    const result = await accept(alert);
    accepted?.add({ source: source.name, kind: result.kind });
    if (result.kind === 'orphan_resolved')
      log.info(
        { source: source.name, title: alert.title, fingerprint: alert.fingerprint },
        'the end of an alert we never heard of',
      );
    return result;
  }

  /** What goes on after the time is up may still land; the sender's next try then is a duplicate. */
  async function within<T>(ms: number, work: Promise<T>): Promise<T | 'too_slow' | 'failed'> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<'too_slow'>((resolve) => {
      timer = setTimeout(() => resolve('too_slow'), ms);
    });
    const settled = work.catch((error: unknown) => {
      log.error({ source: source.name, error: messageOf(error) }, 'alerts not accepted');
      return 'failed' as const;
    });
    const first = await Promise.race([settled, timeout]);
    clearTimeout(timer);
    if (first === 'too_slow') log.error({ source: source.name, ms }, 'accepting alerts takes too long');
    return first;
  }
}

function badRequest(field: string, reason: string): HttpAnswer {
  return { status: 400, body: { error: field === '' ? reason : `${field}: ${reason}`, field } };
}

function tryAgain(): HttpAnswer {
  return {
    status: 503,
    headers: { 'retry-after': '5' },
    body: { error: 'the alerts could not be stored; send them again' },
  };
}
