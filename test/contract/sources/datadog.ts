import { mappedFixtures } from './mapped.ts';

/** Written from Datadog's documentation, with the template of docs/alert-sources.md. */
export const fixtures = mappedFixtures({
  firing: {
    id: '7001',
    alert_id: '1234',
    alert_title: '[P2] [Triggered] Replication lags',
    alert_transition: 'Triggered',
    alert_type: 'error',
    alert_priority: 'P2',
    alert_scope: 'env:prod,host:shop-db',
    hostname: 'shop-db',
    text_only_msg: 'The replica is 90 s behind.',
    date: '1772366280000',
    last_updated: '1772366280000',
    link: 'https://app.datadoghq.com/monitors/1234',
  },
  alert: {
    name: 'Replication lags',
    title: 'Replication lags',
    severity: 'error',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.000Z',
    labels: { env: 'prod', host: 'shop-db' },
  },
  resolved: { id: '7002', alert_transition: 'Recovered', alert_type: 'success' },
  otherThing: { id: '7003', alert_scope: 'env:prod,host:other-db', hostname: 'other-db' },
  words: ['alert_transition', 'alert_type'],
});
