import type { RecordPush } from '../changes/pushed-commits.ts';
import type { RecordChange } from '../changes/record-change.ts';
import type { Alert } from '../core/alert.ts';
import { type Change, MOST_AT_ONCE } from '../core/change.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { within } from '../core/within.ts';
import type { Accept, Accepted } from '../ingest/accept.ts';
import type { AlertSource } from '../sources/ports.ts';
import { alertSource, webhookPath, webhookSources } from '../sources/registry.ts';
import { authoriseWebhook, isSigned, unauthorised } from './authorise.ts';
import { payloadOf } from './payload-of.ts';
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
  /** True: it is what a paging service tells of a page of ours, and no alert. */
  readonly hear?: (source: string, payload: unknown) => Promise<boolean>;
  /** Absent: changes are not kept. */
  readonly recordChange?: RecordChange;
  /** Absent: what was pushed is not kept. */
  readonly recordPush?: RecordPush;
  readonly log: Log;
  readonly timeoutMs?: number;
}

/** The route of every source that calls us. @throws OpsError CONFIG when a secret is of no source that calls */
export function webhookRoutes(
  options: Omit<WebhookOptions, 'source'> & { readonly ownSecrets: ReadonlyMap<string, string> },
): readonly Route[] {
  for (const name of options.ownSecrets.keys())
    if (alertSource(name).arrives !== 'webhook')
      throw new OpsError('CONFIG', `SENTRY_WEBHOOK_SECRETS: ${name} does not call by a webhook.`, {
        hint: 'docs/alert-sources.md lists those that do.',
      });
  return webhookSources().map((source) =>
    webhookRoute({ ...options, source, secret: options.ownSecrets.get(source.name) ?? options.secret }),
  );
}

/** `POST /webhooks/<source>`: 202 once every alert and change of the payload is durable, else 503 so that the sender tries again. */
export function webhookRoute(options: WebhookOptions): Route {
  const { source, accept, secret, log } = options;
  const timeoutMs = options.timeoutMs ?? ACCEPT_TIMEOUT_MS;
  return {
    method: 'POST',
    path: webhookPath(source),
    bodyLimit: BODY_LIMIT,
    // Any page in a browser on this machine can post a form or a text to it: without a secret that is nobody's word.
    ...(secret === null ? { mediaTypes: ['application/json'] } : {}),
    anyHost: secret !== null,
    admit: (head) => authoriseWebhook(head, secret, source.signature),
    async handle(request) {
      const { signature } = source;
      if (authoriseWebhook(request, secret, signature) === 'in_body' && secret !== null && signature)
        if (!isSigned(request, secret, signature))
          return unauthorised(`the signature in ${signature.header} is not one of this body and the secret`);
      const payload = payloadOf(request);
      if ('ok' in payload) return badRequest(payload.field, payload.reason);
      try {
        if (await within(timeoutMs, options.hear?.(source.name, payload.value) ?? Promise.resolve(false)))
          return { status: 202, body: { accepted: [] } };
      } catch (error) {
        log.error({ source: source.name, error: messageOf(error) }, 'news of a page is not taken in');
        return tryAgain();
      }
      const strange = await source.receive?.(payload.value);
      if (strange) return badRequest(strange.field, strange.reason);
      const read = await source.read(payload.value, { receivedAt: new Date() });
      if (!read.ok) return badRequest(read.field, read.reason);
      const { changes: given = [] } = read;
      const tooMany = given.length > MOST_AT_ONCE ? tooManyChanges(given.length) : null;
      if (tooMany && read.alerts.length === 0) return badRequest(tooMany.field, tooMany.reason);
      const changes = tooMany ? [] : given;
      const { pushes = [] } = read;
      if (read.alerts.length === 0 && changes.length === 0 && pushes.length === 0)
        log.info({ source: source.name }, 'a delivery that tells of no alert and no change');
      const refused = [...(read.refused ?? []), ...(tooMany ? [tooMany] : [])].map(({ field, reason }) => ({
        field,
        error: reason,
      }));
      for (const { field, error } of refused)
        log.warn({ source: source.name, field, error }, 'a part of a delivery could not be read');
      // What goes on after the time is up may still land; the sender's next try then is a duplicate.
      try {
        const [results, recorded] = await within(
          timeoutMs,
          Promise.all([
            Promise.all(read.alerts.map(acceptOne)),
            recordAll(changes),
            ...pushes.map(async (push) => options.recordPush?.(push)),
          ]),
        );
        return {
          status: 202,
          body: {
            accepted: results.map(({ kind, incidentId }) => ({ kind, incident: incidentId })),
            ...(recorded.length > 0 ? { changes: recorded } : {}),
            ...(refused.length > 0 ? { refused } : {}),
          },
        };
      } catch (error) {
        log.error({ source: source.name, error: messageOf(error) }, 'alerts not accepted');
        return tryAgain();
      }
    },
  };

  /** One after the other: two of a delivery may be of one change. */
  async function recordAll(changes: readonly Change[]) {
    const recorded: { readonly kind: string; readonly id: string }[] = [];
    for (const change of options.recordChange ? changes : [])
      recorded.push({ kind: (await options.recordChange?.(change)) ?? 'repeated', id: change.id });
    return recorded;
  }

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

/** None of them is kept: of half a delivery nobody knows which half. */
const tooManyChanges = (count: number): { readonly field: string; readonly reason: string } => ({
  field: 'change',
  reason: `${count} changes in one delivery: send at most ${MOST_AT_ONCE}, and the others in the next`,
});

function badRequest(field: string, reason: string): HttpAnswer {
  return { status: 400, body: { error: field === '' ? reason : `${field}: ${reason}`, field } };
}

function tryAgain(): HttpAnswer {
  return {
    status: 503,
    headers: { 'retry-after': '5' },
    body: { error: 'it could not be stored; send it again' },
  };
}
