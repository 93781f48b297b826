import { mappedFixtures } from './mapped.ts';

/** Written from Opsgenie's documentation. */
export const fixtures = mappedFixtures({
  firing: {
    action: 'Create',
    source: { name: 'web', type: 'API' },
    integrationName: 'Sentry',
    alert: {
      alertId: '052652ac-5d1c-464a-812a-7dd18bbfba8c',
      alias: 'disk-full-shop-db',
      message: 'The disk is full',
      description: '98 % of /var is used',
      entity: 'shop-db',
      priority: 'P1',
      tags: ['env:prod', 'OverwriteQuietHours'],
      details: { region: 'eu' },
      createdAt: 1772366280000,
      updatedAt: 1772366280000000,
    },
  },
  alert: {
    name: 'disk-full-shop-db',
    title: 'The disk is full',
    severity: 'critical',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.000Z',
    labels: { env: 'prod', region: 'eu' },
  },
  resolved: { action: 'Close' },
  otherThing: { 'alert.alertId': '0a2652ac-5d1c-464a-812a-7dd18bbfba8d', 'alert.entity': 'other-db' },
  words: ['action'],
});
