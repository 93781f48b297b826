import { type Alert, REOPEN_MINUTES } from '../core/alert.ts';
import { asIncidentId, type IncidentId } from '../core/ids.ts';
import type { DomainOfLabels } from '../core/incident.ts';
import type { Sql, Tx } from '../core/sql.ts';
import type { Target } from '../core/target.ts';
import { sha256 } from '../safety/sha256.ts';
import { alertSources, endSenders } from '../sources/registry.ts';
import { inBatches } from './batch.ts';
import { lockWordsOf, type Told, toldBy } from './correlate.ts';
import { matchTarget } from './match-target.ts';
import { redactAlert } from './redact-alert.ts';

/**
 * What became of an accepted alert. Only `orphan_resolved` has no incident: the end of something that nobody has told us of yet. It is
 * remembered for a day, should its beginning come later.
 */
export type Accepted =
  | {
      readonly kind: 'opened' | 'repeated' | 'resolved' | 'duplicate' | 'reopened';
      readonly incidentId: IncidentId;
    }
  | { readonly kind: 'orphan_resolved'; readonly incidentId: null };

/** Resolves when the alert is durable; rejects when that is not known. Accepting the same delivery again is harmless. */
export type Accept = (alert: Alert) => Promise<Accepted>;

/**
 * One after the other while few wait, because larger batches share more; a second one beside the first in a storm; more
 * only beside one that waits for a lock on somebody's incident. A batch of 24 takes about 3 ms (bench/README.md).
 */
const BATCHES = { beside: 12, concurrency: 4, size: 24, patienceMs: 50 } as const;

/** The same of several within somebody's transaction: with what else is done there, or not at all. */
export type AcceptIn = (tx: Tx, alerts: readonly Alert[]) => Promise<readonly Accepted[]>;

/**
 * Accepting is one SQL statement (`sentry_accept_alerts` in prisma/migrations): as BEGIN … COMMIT from here it reached a
 * quarter of plain inserts at 32 connections. It asks for the incident's turn by `sentry_enqueue_turn`, which must exist.
 *
 * @param targets looked through for every batch, so that it may change
 */
export function createAcceptIn(
  targets: Iterable<Target>,
  domainOf: DomainOfLabels,
  options: { readonly reopenWindowMs?: number } = {},
): AcceptIn {
  const reopenMs = options.reopenWindowMs ?? REOPEN_MINUTES * 60_000;
  return async (tx, alerts) => {
    const known = [...targets];
    const rows = await tx<{ accepted_incident: string | null; accepted_kind: string }>`
      SELECT accepted_incident, accepted_kind
      FROM sentry_accept_alerts(${tx.json(alerts.map((alert) => statement(alert, known, domainOf, reopenMs)))}) ORDER BY n`;
    return rows.map(toAccepted);
  };
}

/** Alerts one by one, as they come: those that come together are accepted together. */
export function createAccept(sql: Sql, ...how: Parameters<typeof createAcceptIn>): Accept {
  const acceptIn = createAcceptIn(...how);
  return inBatches<Alert, Accepted>((alerts) => acceptIn(sql, alerts), BATCHES, isAboutTheRows);
}

/** PostgreSQL refused a row (or chose us in a deadlock), as opposed to being away, full or shutting down (classes 08, 53, 57). */
function isAboutTheRows(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(?!08|53|57)[0-9A-Z]{5}$/.test(code);
}

function toAccepted(row: { accepted_incident: string | null; accepted_kind: string }): Accepted {
  if (row.accepted_incident === null) return { kind: 'orphan_resolved', incidentId: null };
  return {
    kind: row.accepted_kind as Exclude<Accepted['kind'], 'orphan_resolved'>,
    incidentId: asIncidentId(row.accepted_incident),
  };
}

/** Of one rule on one thing: a group may hold several of either, and those are problems of their own. */
export function groupKeyOf({ source, name, group }: Alert, target: Target | null): string | null {
  const thing = target?.name ?? group?.target ?? null;
  return group === undefined || name === null || thing === null
    ? null
    : sha256(JSON.stringify([source, group.key, name, thing])).slice(0, 32);
}

function statement(given: Alert, targets: readonly Target[], domainOf: DomainOfLabels, reopenMs: number) {
  const target = matchTarget(given, targets);
  const alert = redactAlert(given);
  const sender = alertSources.find(({ name }) => name === alert.source);
  const partialLabels = sender?.partialLabels === true;
  const told: Told = toldBy(alert, partialLabels);
  return {
    source: alert.source,
    status: alert.status,
    name: alert.name,
    title: alert.title,
    severity: alert.severity,
    labels: alert.labels,
    annotations: alert.annotations,
    fingerprint: alert.fingerprint,
    delivery_key: alert.deliveryKey,
    starts_at: alert.startsAt,
    ends_at: alert.endsAt,
    url: alert.url,
    target: target?.name ?? null,
    domain: target?.domain ?? domainOf(alert.labels),
    told,
    lock_words: lockWordsOf(told),
    corrects: alert.corrects ?? null,
    vague: partialLabels,
    related_sources: alertSources
      .map(({ name }) => name)
      .filter((name) => partialLabels || name !== alert.source)
      .join(' '),
    sends_ends: [...endSenders().keys()].join(' '),
    // A chat message is as old as its time, however late it is read; a webhook speaks of now.
    sent_at: partialLabels ? (alert.endsAt ?? alert.startsAt) : null,
    own_times: sender?.ownTimes === true,
    group_key: groupKeyOf(alert, target),
    reopen_ms: reopenMs,
  };
}
