import { mappedFixtures } from './mapped.ts';

/** Written from Graylog's documentation. */
export const fixtures = mappedFixtures({
  firing: {
    event_definition_id: '5ceb0e1b4a5e2d0011d1e5b1',
    event_definition_type: 'aggregation-v1',
    event_definition_title: 'Too many failed logins',
    event_definition_description: '',
    event: {
      id: '01DNM7XAQEDNGQ7Q6K7Z5Y7E2C',
      message: 'Too many failed logins: shop-db - count()=23.0',
      source: 'graylog-1',
      key: 'shop-db',
      priority: 3,
      alert: true,
      timestamp: '2026-03-01T11:58:00.000Z',
      fields: { source: 'shop-db' },
      group_by_fields: { source: 'shop-db' },
    },
    backlog: [],
  },
  alert: {
    name: 'Too many failed logins',
    title: 'Too many failed logins',
    severity: 'error',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: null,
  otherThing: {
    'event.id': '02DNM7XAQEDNGQ7Q6K7Z5Y7E2D',
    'event.key': 'other-db',
    'event.fields.source': 'other-db',
    'event.group_by_fields.source': 'other-db',
  },
  words: [],
});
