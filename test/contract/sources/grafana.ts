import { mappedFixtures } from './mapped.ts';

/** As Grafana 11 sends it (unified alerting). */
export const fixtures = mappedFixtures({
  firing: {
    receiver: 'sentry',
    status: 'firing',
    orgId: 1,
    alerts: [
      {
        status: 'firing',
        labels: { alertname: 'High memory usage', team: 'blue', instance: 'shop-db', severity: 'warning' },
        annotations: { summary: 'The memory of shop-db is nearly used up' },
        startsAt: '2026-03-01T11:58:00Z',
        endsAt: '0001-01-01T00:00:00Z',
        generatorURL: 'https://grafana.example.com/alerting/1afz29v7z/edit',
        fingerprint: 'c6eadffa33fcdf37',
        dashboardURL: '',
        panelURL: 'https://grafana.example.com/d/abc?viewPanel=2',
        values: { B: 91.2 },
      },
    ],
    groupLabels: {},
    commonLabels: { team: 'blue' },
    title: '[FIRING:1] (blue)',
    state: 'alerting',
  },
  alert: {
    name: 'High memory usage',
    title: 'High memory usage',
    severity: 'warning',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.000Z',
    url: 'https://grafana.example.com/d/abc?viewPanel=2',
  },
  resolved: { status: 'resolved', 'alerts.0.status': 'resolved', 'alerts.0.endsAt': '2026-03-01T11:59:30Z' },
  otherThing: { 'alerts.0.labels.instance': 'other-db', 'alerts.0.fingerprint': 'd0eadffa33fcdf38' },
  words: ['status', 'state'],
  bad: [
    { payload: {}, field: '', says: 'has nothing at' },
    { payload: { alerts: ['x'] }, field: '0', says: 'expected a JSON object' },
    { payload: { alerts: [{ status: 'firing' }] }, field: '0.title', says: 'expected a text' },
    {
      payload: { alerts: [{ status: 'asleep', labels: { alertname: 'x' } }] },
      field: '0.status',
      says: 'not "asleep"',
    },
  ],
});
