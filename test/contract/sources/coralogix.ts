import { mappedFixtures } from './mapped.ts';

export const fixtures = mappedFixtures({
  firing: {
    uuid: '36fa9188-d097-439f-aad8-eb492169ac87',
    alert_id: '49a4afb5-9231-418d-94ea-3a7546779658',
    name: 'Too many errors',
    description: 'More than 10 in a minute',
    alert_action: 'trigger',
    alert_url: 'https://shop.app.coralogix.com/#/insights?id=1',
    service: '$SERVICE',
    fields: [
      { key: 'application', value: 'shop' },
      { key: 'subsystem', value: 'checkout' },
      { key: 'severity', value: 'ERROR' },
      { key: 'computer', value: '*insert computer name*' },
      { key: 'Group-by Field1', value: 'region' },
      { key: 'Group-by Value1', value: 'eu' },
      { key: 'timestampISO', value: '2026-03-01T11:58:00.000Z' },
      { key: 'timestampMs', value: 1772366280000 },
    ],
  },
  alert: {
    name: 'Too many errors',
    title: 'Too many errors',
    severity: 'error',
    target: 'checkout',
    startsAt: '2026-03-01T11:58:00.000Z',
    labels: { region: 'eu', application: 'shop', subsystem: 'checkout' },
  },
  resolved: { uuid: '46fa9188-d097-439f-aad8-eb492169ac88', alert_action: 'resolve' },
  otherThing: { 'fields.5.value': 'us' },
  words: ['alert_action'],
});
