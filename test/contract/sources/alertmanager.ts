import { alertmanagerBody } from '../../support/alerts.ts';
import type { SourceFixtures } from './fixtures.ts';

const one = (change: object) => {
  const { alerts } = alertmanagerBody({ instance: 'a' }) as { readonly alerts: readonly object[] };
  return { alerts: [{ ...alerts[0], ...change }] };
};

export const fixtures: SourceFixtures = {
  firing: alertmanagerBody({ instance: 'shop-db' }),
  alert: {
    name: 'PostgresBlockedSessions',
    title: 'PostgresBlockedSessions',
    severity: 'critical',
    target: 'shop-db',
    annotations: { summary: 'Sessions wait for a lock' },
    url: 'http://prometheus:9090/graph?g0.expr=x',
  },
  resolved: alertmanagerBody({ instance: 'shop-db' }, { status: 'resolved' }),
  otherThing: alertmanagerBody({ instance: 'other-db' }),
  carrying: (text) => ({
    ...one({
      labels: { alertname: text, severity: text, instance: text, [text]: text },
      annotations: { summary: text, [text]: text },
      generatorURL: text,
      fingerprint: text,
    }),
    externalURL: text,
  }),
  bad: [
    { payload: null, field: '', says: 'Alertmanager webhook' },
    { payload: [], field: 'alerts', says: 'at least one alert' },
    { payload: {}, field: 'alerts', says: 'array of alerts' },
    { payload: { alerts: [] }, field: 'alerts', says: 'at least one alert' },
    { payload: { alerts: 'x' }, field: 'alerts', says: 'array of alerts' },
    { payload: one({ status: 'broken' }), field: 'alerts.0.status', says: '"firing" or "resolved"' },
    { payload: one({ labels: {} }), field: 'alerts.0.labels', says: 'at least one label' },
    { payload: one({ labels: { instance: 5 } }), field: 'alerts.0.labels.instance', says: 'string' },
    { payload: ['x'], field: 'alerts.0', says: 'object of an alert' },
  ],
};
