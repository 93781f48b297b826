import { mappedFixtures } from './mapped.ts';

export const fixtures = mappedFixtures({
  firing: {
    id: '18',
    summary: 'CheckMK shop-db/Filesystem / OK -> CRIT',
    host: 'shop-db',
    alias: 'shop-db',
    address: '192.0.2.7',
    service: 'Filesystem /',
    event: 'OK -> CRIT',
    output: 'CRIT - 98.2% used',
    status: 'CRIT',
    severity: 'CRITICAL',
    url: '/check_mk/index.py?start_url=view.py',
    check_command: 'check_mk-df',
    site: 'cmk',
    what: 'SERVICE',
    notification_type: 'PROBLEM',
    short_date_time: '2026-03-01 11:58:00',
  },
  alert: {
    name: 'Filesystem /',
    title: 'CheckMK shop-db/Filesystem / OK -> CRIT',
    severity: 'critical',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.000Z',
    url: null,
  },
  resolved: { notification_type: 'RECOVERY', status: 'OK', severity: 'OK', event: 'CRIT -> OK', id: '0' },
  otherThing: { host: 'other-db' },
  words: ['status', 'notification_type'],
});
