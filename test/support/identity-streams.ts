import type { Delivery } from '../../evals/normalize/score-streams.ts';
import { ofOneFingerprint, ofOneName } from './linked-messages.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute));
let posts = 0;

const message = (minute: number, content: object) => {
  posts += 1;
  const ts = `${at(minute).getTime() / 1000}.${String(posts).padStart(6, '0')}`;
  return { type: 'message', channel: 'C1', bot_id: 'B1', ts, text: '', ...content };
};

type Labels = Readonly<Record<string, string>>;

/** What Alertmanager sends to a webhook of these alerts (notify/webhook). */
function notified(status: 'firing' | 'resolved', group: Labels, alerts: readonly Labels[]) {
  return {
    version: '4',
    groupKey: `{}:${JSON.stringify(group)}`,
    status,
    groupLabels: group,
    alerts: alerts.map((labels) => ({
      status,
      labels,
      startsAt: at(0).toISOString(),
      endsAt: status === 'resolved' ? at(20).toISOString() : '0001-01-01T00:00:00Z',
    })),
  };
}

/** What its Slack receiver posts of them by default (template/default.tmpl, `__subject`). */
function titled(status: 'firing' | 'resolved', group: Labels, alerts: readonly Labels[]) {
  const [first = {}] = alerts;
  const shared = Object.entries(first)
    .filter(([name, value]) => alerts.every((labels) => labels[name] === value))
    .toSorted(([a], [b]) => Number(b === 'alertname') - Number(a === 'alertname') || (a < b ? -1 : 1));
  const values = (inGroup: boolean) =>
    shared.filter(([name]) => name in group === inGroup).map(([, value]) => value);
  const mark = status === 'firing' ? `FIRING:${alerts.length}` : 'RESOLVED';
  const title = `[${mark}] ${values(true).join(' ')} (${values(false).join(' ')})`;
  const link = 'https://alertmanager.example/#/alerts?receiver=slack';
  return { attachments: [{ title, fallback: `${title} | ${link}`, color: 'a30200' }] };
}

const orders = { webhook: ['hook', 'post'], message: ['post', 'hook'] } as const;

/** One alert by both ways: begun, told again, over; beside another one of the same rule. */
function alertmanagerStream(name: string, mine: Labels, other: Labels): readonly Delivery[] {
  const group = { alertname: mine['alertname'] ?? '' };
  return Object.entries(orders).flatMap(([first, order]) => {
    const told = (minute: number, status: 'firing' | 'resolved', labels: Labels, problem: string) =>
      order.map(
        (way): Delivery => ({
          stream: `${name}, ${first} first`,
          problem,
          ...(way === 'hook'
            ? { source: 'alertmanager', payload: notified(status, group, [labels]) }
            : { source: 'slack', payload: message(minute, titled(status, group, [labels])) }),
        }),
      );
    return [
      ...told(0, 'firing', mine, 'mine'),
      ...told(1, 'firing', other, 'other'),
      ...told(9, 'firing', mine, 'mine'),
      ...told(20, 'resolved', other, 'other'),
      ...told(21, 'resolved', mine, 'mine'),
    ];
  });
}

/** A group of one rule on one host that grows: each notification tells of all of its alerts. */
function growingStream(): readonly Delivery[] {
  const group = { alertname: 'Disk Full', host: 'a' };
  const disks = ['sda1', 'sdb1', 'sdc1'].map((device) => ({ ...group, device, severity: 'warning' }));
  return Object.entries(orders).flatMap(([first, order]) =>
    (['firing', 'firing', 'firing', 'resolved'] as const).flatMap((status, n) =>
      order.map(
        (way): Delivery => ({
          stream: `a group that grows, ${first} first`,
          problem: 'mine',
          ...(way === 'hook'
            ? { source: 'alertmanager', payload: notified(status, group, disks.slice(0, n + 1)) }
            : { source: 'slack', payload: message(n * 5, listing(status, group, disks.slice(0, n + 1))) }),
        }),
      ),
    ),
  );
}

/** The same title, and below it each alert with all of its labels, as people's own templates do it. */
function listing(status: 'firing' | 'resolved', group: Labels, alerts: readonly Labels[]) {
  const text = alerts
    .map(
      (labels) =>
        `*Alert:* A disk fills\n${Object.entries(labels)
          .map(([name, value]) => ` • *${name}:* \`${value}\``)
          .join('\n')}`,
    )
    .join('\n\n');
  const { attachments } = titled(status, group, alerts);
  return { attachments: attachments.map((attachment) => ({ ...attachment, text })) };
}

const base = { alertname: 'High Latency', instance: 'orders-db:5432', severity: 'critical' };
const tx = { alertname: 'Long transaction', instance: 'orders-db:5432', prometheus: 'peers/a' };

const linked = Object.entries({ ...ofOneFingerprint, ...ofOneName }).flatMap(
  ([source, { webhook, firing, resolved }]) =>
    Object.entries(orders).flatMap(([first, order]) => {
      const told = (minute: number, payload: unknown, content: object) =>
        order.map(
          (way): Delivery => ({
            stream: `${source}, ${first} first`,
            problem: 'mine',
            ...(way === 'hook'
              ? { source, payload }
              : { source: 'slack', payload: message(minute, content) }),
          }),
        );
      return [
        ...told(0, webhook.firing, firing),
        { stream: `${source}, ${first} first`, problem: 'other', source, payload: webhook.otherThing },
        ...told(9, webhook.firing, firing),
        ...told(20, webhook.resolved, resolved),
      ];
    }),
);

/** Synthetic: written after the senders' documented forms, not recorded. */
export const identityStreams: readonly Delivery[] = [
  ...alertmanagerStream('a name with spaces', base, { ...base, instance: 'users-db:5432' }),
  ...alertmanagerStream(
    'values with filler words, and an external label',
    { ...tx, state: 'idle in transaction' },
    { ...tx, state: 'idle' },
  ),
  ...alertmanagerStream(
    'one rule on two resources',
    { alertname: 'DiskFull', device: 'sda1', host: 'a' },
    { alertname: 'DiskFull', device: 'sda1', host: 'b' },
  ),
  ...alertmanagerStream(
    'a severity as a name',
    { alertname: 'Postgres down in dc1', service: 'orders', severity: 'page' },
    { alertname: 'Postgres down in dc2', service: 'orders', severity: 'page' },
  ),
  ...growingStream(),
  ...linked,
];
