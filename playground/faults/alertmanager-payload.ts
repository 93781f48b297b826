import { sha256 } from '../../src/safety/sha256.ts';

/** One alert as it is now. `endsAt` null: it fires. */
export interface RaisedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string | null;
}

const receiver = 'sentry';
const externalURL = 'http://alertmanager.shop.example:9093';

/** The webhook's body, version 4: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config */
export function webhookBody(alert: RaisedAlert): object {
  const status = alert.endsAt === null ? 'firing' : 'resolved';
  const group = { alertname: alert.labels['alertname'] ?? '' };
  return {
    receiver,
    status,
    alerts: [
      {
        status,
        labels: alert.labels,
        annotations: alert.annotations,
        startsAt: alert.startsAt,
        // Alertmanager's zero time while it fires.
        endsAt: alert.endsAt ?? '0001-01-01T00:00:00Z',
        generatorURL: 'http://prometheus.shop.example:9090/alerts',
        fingerprint: fingerprint(alert.labels),
      },
    ],
    groupLabels: group,
    commonLabels: alert.labels,
    commonAnnotations: alert.annotations,
    externalURL,
    version: '4',
    groupKey: `{}:{alertname="${group.alertname}"}`,
    truncatedAlerts: 0,
  };
}

/** What its Slack receiver posts: the default title and colours, with the annotations and labels most teams add. */
export function slackMessage(alert: RaisedAlert): object {
  const firing = alert.endsAt === null;
  const { alertname = '', ...rest } = alert.labels;
  const title = `[${firing ? 'FIRING:1' : 'RESOLVED'}] ${alertname} (${Object.values(rest).join(' ')})`;
  const link = `${externalURL}/#/alerts?receiver=${receiver}`;
  return {
    username: 'Alertmanager',
    attachments: [
      {
        title,
        title_link: link,
        fallback: `${title} | ${link}`,
        text: [alert.annotations['summary'], alert.annotations['description']].join('\n'),
        color: firing ? 'danger' : 'good',
        fields: Object.entries(alert.labels).map(([name, value]) => ({ title: name, value, short: true })),
        mrkdwn_in: ['fallback', 'pretext', 'text'],
      },
    ],
  };
}

/** 16 hex digits over the labels, as Alertmanager's; its own hash is another, but only its being stable counts. */
function fingerprint(labels: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return sha256(JSON.stringify(sorted)).slice(0, 16);
}
