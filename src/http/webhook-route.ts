import type { Alert } from '../core/alert.ts';
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { within } from '../core/within.ts';
import type { Accept, Accepted } from '../ingest/accept.ts';
import type { AlertSource } from '../sources/ports.ts';
import { webhookPath, webhookSources } from '../sources/registry.ts';
import { authoriseWebhook } from './authorise.ts';
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
  readonly timeoutMs?: number;
}

/** The route of every source that calls us. */
export function webhookRoutes(options: Omit<WebhookOptions, 'source'>): readonly Route[] {
  return webhookSources.map((source) => webhookRoute({ ...options, source }));
}

/** `POST /webhooks/<source>`: 202 once every alert of the payload is durable, else 503 so that the sender tries again. */
export function webhookRoute(options: WebhookOptions): Route {
  const { source, accept, secret, log } = options;
  const timeoutMs = options.timeoutMs ?? ACCEPT_TIMEOUT_MS;
  return {
    method: 'POST',
    path: webhookPath(source),
    bodyLimit: BODY_LIMIT,
    mediaTypes: ['application/json'],
    anyHost: secret !== null,
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
      // What goes on after the time is up may still land; the sender's next try then is a duplicate.
      try {
        const results = await within(timeoutMs, Promise.all(read.alerts.map(acceptOne)));
        return {
          status: 202,
          body: { accepted: results.map(({ kind, incidentId }) => ({ kind, incident: incidentId })) },
        };
      } catch (error) {
        log.error({ source: source.name, error: messageOf(error) }, 'alerts not accepted');
        return tryAgain();
      }
    },
  };

  async function acceptOne(alert: Alert): Promise<Accepted> {
    const result = await accept(alert);
    if (result.kind === 'orphan_resolved')
      log.info(
        { source: source.name, title: alert.title, fingerprint: alert.fingerprint },
        'the end of an alert we never heard of',
      );
    return result;
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
