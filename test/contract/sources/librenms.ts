import { mappedFixtures } from './mapped.ts';

export const fixtures = mappedFixtures({
  firing: {
    title: 'Alert for device shop-db - Devices up/down',
    hostname: 'shop-db',
    device_id: '2',
    sysName: 'shop-db',
    os: 'linux',
    display: 'shop-db',
    alert_id: '26',
    rule_id: '13',
    uid: '40',
    severity: 'critical',
    name: 'Devices up/down',
    timestamp: '2026-03-01 11:58:00',
    state: '1',
    msg: 'Alert for device shop-db - Devices up/down',
  },
  alert: {
    name: 'Devices up/down',
    title: 'Alert for device shop-db - Devices up/down',
    severity: 'critical',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: { state: '0', uid: '41', severity: 'ok', timestamp: '2026-03-01 11:59:00' },
  otherThing: { alert_id: '27', uid: '42', hostname: 'other-db' },
  words: ['state'],
});
