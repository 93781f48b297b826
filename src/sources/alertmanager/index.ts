import type { Alert } from '../../core/alert.ts';
import { severityOf } from '../../core/severity.ts';
import { sha256 } from '../../safety/sha256.ts';
import { badInput } from '../bad-input.ts';
import { fingerprintOf } from '../fingerprint.ts';
import { gathered } from '../gathered.ts';
import { inTurns } from '../in-turns.ts';
import type { AlertSource, BadInput, ReadContext, ReadResult } from '../ports.ts';
import { namedTarget } from '../target.ts';
import { AlertmanagerAlert, AlertmanagerWebhook } from './schema.ts';

/**
 * Alertmanager sends a notification again until it is answered 2xx, for at most its group interval (5 min by default),
 * and the bytes do not tell a second try from a reminder hours later. So the same notification within five minutes is
 * the same delivery; after that it is another occurrence.
 */
const REDELIVERY_MS = 5 * 60_000;

/**
 * The webhook of a Prometheus Alertmanager: every alert of the group is one alert. A bare list of alerts, or one alone, is
 * read as well: what Prometheus sends to Alertmanager, and what other programs make of either.
 */
export const alertmanager = {
  name: 'alertmanager',
  title: 'Alertmanager',
  payload: 'what Alertmanager sends to a webhook (version 4)',
  arrives: 'webhook',
  sendsEnds: true,
  repeats: true,
  ownTimes: true,
  partialLabels: false,
  async read(payload: unknown, context: ReadContext): Promise<ReadResult> {
    const parsed = AlertmanagerWebhook.safeParse(asGroup(payload));
    if (!parsed.success) return badInput(parsed.error);
    const group = parsed.data;
    return gathered(await inTurns(group.alerts, (raw) => readAlert(raw, group, context)), 'alerts');
  },
} satisfies AlertSource;

function asGroup(payload: unknown): unknown {
  if (Array.isArray(payload)) return { alerts: payload };
  const isAlone =
    payload !== null && typeof payload === 'object' && 'labels' in payload && !('alerts' in payload);
  return isAlone ? { alerts: [payload] } : payload;
}

/** One alert of the group. */
export function readAlert(raw: unknown, group: AlertmanagerWebhook, context: ReadContext): Alert | BadInput {
  const alert = AlertmanagerAlert.safeParse(raw);
  return alert.success ? toAlert(alert.data, group, context) : badInput(alert.error);
}

function toAlert(raw: AlertmanagerAlert, group: AlertmanagerWebhook, { receivedAt }: ReadContext): Alert {
  const labels = { ...group.commonLabels, ...raw.labels };
  const annotations = { ...group.commonAnnotations, ...raw.annotations };
  const name = labels['alertname'] || null;
  const title = name ?? annotations['summary'] ?? annotations['description'] ?? 'Alert without a name';
  const sourceSeverity = labels['severity'] ?? labels['priority'] ?? null;
  const fingerprint = fingerprintOf(name ?? title, labels);
  const isPast = raw.endsAt != null && Date.parse(raw.endsAt) <= receivedAt.getTime();
  const status = raw.status ?? (isPast ? 'resolved' : 'firing');
  const endsAt = status === 'resolved' ? (raw.endsAt ?? null) : null;
  // Alertmanager's own fingerprint covers the labels ours leaves out: replicas' notifications are deliveries of their own.
  const which = raw.fingerprint ? opaque(raw.fingerprint) : fingerprint;
  const round = Math.floor(receivedAt.getTime() / REDELIVERY_MS);
  return {
    source: 'alertmanager',
    status,
    name,
    title,
    severity: severityOf(sourceSeverity),
    sourceSeverity,
    labels,
    annotations,
    target: namedTarget(labels),
    fingerprint,
    deliveryKey: ['alertmanager', which, status, raw.startsAt ?? '', endsAt ?? '', round].join(':'),
    startsAt: raw.startsAt ?? receivedAt.toISOString(),
    endsAt,
    url: raw.generatorURL || group.externalURL || null,
    ...(group.groupKey
      ? { group: { key: group.groupKey, target: namedTarget(group.groupLabels ?? {}) } }
      : {}),
  };
}

/** Hex as Alertmanager has it; what others send there may be any text, secrets among it. */
function opaque(fingerprint: string): string {
  return /^[0-9a-f]{1,64}$/.test(fingerprint) ? fingerprint : sha256(fingerprint);
}
