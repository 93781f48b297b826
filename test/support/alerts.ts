import type { Alert } from '../../src/core/alert.ts';
import { storableJson } from '../../src/core/storable.ts';
import { readAlert } from '../../src/sources/alertmanager/index.ts';
import { AlertmanagerWebhook } from '../../src/sources/alertmanager/schema.ts';
import { acceptedOf } from '../../src/sources/ports.ts';
import { slackMessage } from '../../src/sources/slack-message/index.ts';

let clock = Date.parse('2026-03-01T10:00:00Z');

/** The body Alertmanager 0.25 sends, with one alert unless more are given. */
export function alertmanagerBody(
  labels: Readonly<Record<string, string>>,
  options: {
    readonly status?: 'firing' | 'resolved';
    readonly startsAt?: string;
    readonly endsAt?: string;
  } = {},
): object {
  const status = options.status ?? 'firing';
  clock += 1000;
  return {
    receiver: 'sentry',
    status,
    alerts: [
      {
        status,
        labels: { alertname: 'PostgresBlockedSessions', severity: 'critical', ...labels },
        annotations: { summary: 'Sessions wait for a lock' },
        startsAt: options.startsAt ?? new Date(clock).toISOString(),
        endsAt:
          options.endsAt ??
          (status === 'resolved' ? new Date(clock + 500).toISOString() : '0001-01-01T00:00:00Z'),
        generatorURL: 'http://prometheus:9090/graph?g0.expr=x',
      },
    ],
    groupLabels: labels,
    commonLabels: {},
    commonAnnotations: {},
    externalURL: 'http://alertmanager:9093',
    version: '4',
    // `group_by: ['...']`: every alert is a group of its own.
    groupKey: `{}:${JSON.stringify(labels)}`,
    truncatedAlerts: 0,
  };
}

export function webhookAlert(...args: Parameters<typeof alertmanagerBody>): Alert {
  const body = alertmanagerBody(...args);
  const group = AlertmanagerWebhook.parse(body);
  const read = readAlert(group.alerts[0], group, { receivedAt: new Date(clock) });
  if ('ok' in read) throw new Error(`${read.field}: ${read.reason}`);
  return read;
}

/** A message of another app in #alerts, posted now unless `ts` says otherwise. */
export function slackAlert(message: object, sentAt: Date = new Date()): Alert {
  clock += 1;
  const ts = `${Math.floor(sentAt.getTime() / 1000)}.${String(clock % 1_000_000).padStart(6, '0')}`;
  return only({ type: 'message', channel: 'C0ALERTS', bot_id: 'B0AM', ts, ...message });
}

function only(payload: unknown): Alert {
  const read = slackMessage.read(storableJson(payload), { receivedAt: new Date(clock) });
  if (!read.ok) throw new Error(`${read.field}: ${read.reason}`);
  // Of a group that is listed, what the message says as one.
  const [alert, ...more] = acceptedOf(read);
  if (!alert || more.length > 0) throw new Error(`expected one alert, read ${read.alerts.length}`);
  return alert;
}
