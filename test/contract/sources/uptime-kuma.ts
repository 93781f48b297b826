import { mappedFixtures } from './mapped.ts';

export const fixtures = mappedFixtures({
  firing: {
    heartbeat: {
      monitorID: 7,
      status: 0,
      time: '2026-03-01 11:58:00.123',
      msg: 'connect ECONNREFUSED 192.0.2.7:5432',
      important: true,
      duration: 60,
      timezone: 'UTC',
    },
    monitor: {
      id: 7,
      name: 'shop-db',
      hostname: '',
      url: 'https://',
      type: 'port',
      tags: [{ name: 'env', value: 'prod' }],
    },
    msg: '[shop-db] [🔴 Down] connect ECONNREFUSED 192.0.2.7:5432',
  },
  alert: {
    name: 'shop-db',
    title: 'shop-db',
    severity: 'critical',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.123Z',
    labels: { env: 'prod', monitor: 'shop-db' },
  },
  resolved: {
    'heartbeat.status': 1,
    'heartbeat.time': '2026-03-01 11:59:00.123',
    'heartbeat.msg': '200 - OK',
  },
  otherThing: { 'monitor.id': 8, 'monitor.name': 'other-db' },
  words: [],
});
