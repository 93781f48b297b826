import { expect, test } from 'vitest';
import { alertSource } from '../../../src/sources/registry.ts';

/** Synthetic: less usual forms of what the senders' documentation describes. */
const datadog = { id: '1', last_updated: '1714644000000', date: '1714644000000' };
const issue = { id: '1', title: 'TypeError: x', level: 'error', project: { slug: 'web' } };
const rule = { ruleId: 7, ruleName: 'Heap usage', tags: {} };

test.each([
  {
    what: 'Grafana 8: a rule without data',
    source: 'grafana',
    payload: { ...rule, state: 'no_data', title: '[No Data] Heap usage' },
    reads: [{ title: 'Heap usage', status: 'firing' }],
  },
  { what: 'Grafana 8: a paused rule', source: 'grafana', payload: { ...rule, state: 'paused' }, reads: [] },
  {
    what: 'Datadog’s own default, which names its host in the title',
    source: 'datadog',
    payload: { ...datadog, title: '[Triggered on {host:web-1}] CPU high' },
    reads: [{ title: 'CPU high', status: 'firing', target: 'web-1', labels: { host: 'web-1' } }],
  },
  {
    what: 'Datadog: a priority before the transition',
    source: 'datadog',
    payload: { ...datadog, title: '[P2] [Recovered on {host:web-1}] CPU high' },
    reads: [{ title: 'CPU high', status: 'resolved', sourceSeverity: 'P2' }],
  },
  {
    what: 'Datadog: the priority of the event is not that of the monitor',
    source: 'datadog',
    payload: {
      ...datadog,
      title: 'Disk',
      alert_transition: 'Warn',
      alert_type: 'warning',
      priority: 'normal',
    },
    reads: [{ status: 'firing', sourceSeverity: 'warning' }],
  },
  {
    what: 'Opsgenie: a detail is added',
    source: 'opsgenie',
    payload: { action: 'AddDetails', alert: { alertId: 'a', message: 'disk' } },
    reads: [],
  },
  {
    what: 'Sentry.io: an event with its tags',
    source: 'sentry-io',
    payload: {
      action: 'triggered',
      data: {
        event: {
          title: 'ValueError: y',
          issue_id: '7',
          level: 'error',
          tags: [
            ['environment', 'prod'],
            ['server_name', 'web-1'],
          ],
        },
      },
    },
    reads: [{ target: 'web-1', labels: { environment: 'prod', server_name: 'web-1' } }],
  },
  {
    what: 'Sentry.io: the older plugin, with its project at the top',
    source: 'sentry-io',
    payload: { id: '2', project: 'web', level: 'error', message: 'boom', event: { title: 'Boom' } },
    reads: [{ title: 'Boom', target: 'web', status: 'firing' }],
  },
  {
    what: 'Sentry.io: an issue that somebody assigns',
    source: 'sentry-io',
    payload: { action: 'assigned', data: { issue } },
    reads: [],
  },
  {
    what: 'Alertmanager’s own API: silenced, and firing',
    source: 'alertmanager',
    payload: [
      {
        labels: { alertname: 'X' },
        startsAt: '2024-05-02T10:00:00Z',
        endsAt: '2099-05-02T10:00:00Z',
        status: { inhibitedBy: [], silencedBy: ['1'], state: 'suppressed' },
      },
    ],
    reads: [{ name: 'X', status: 'firing', endsAt: null }],
  },
  {
    what: 'another sender’s alert that has a field for a change',
    source: 'generic',
    payload: { title: 'Disk full', severity: 'critical', status: 'firing', change: { id: 'x', name: 'y' } },
    reads: [{ title: 'Disk full', status: 'firing' }],
  },
  {
    what: 'Argo CD: synced, and not healthy yet, which ends nothing',
    source: 'argo-cd',
    payload: { app: 'shop', phase: 'Succeeded', health: 'Progressing', startedAt: '2026-03-01T11:55:00Z' },
    reads: [],
  },
])('reads $what', async ({ source, payload, reads }) => {
  const read = await alertSource(source).read(payload, { receivedAt: new Date('2026-03-01T12:00:00Z') });
  expect(read).toMatchObject({ ok: true });
  const alerts = read.ok ? read.alerts : [];
  expect(alerts).toHaveLength(reads.length);
  expect(alerts).toMatchObject(reads);
});
