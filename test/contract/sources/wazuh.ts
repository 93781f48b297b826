import { mappedFixtures } from './mapped.ts';

export const fixtures = mappedFixtures({
  firing: {
    timestamp: '2026-03-01T11:58:00.853+0000',
    rule: { level: 12, id: '5712', description: 'sshd: brute force' },
    agent: { id: '001', name: 'shop-db', ip: '192.0.2.7' },
    id: '1580123327.49031',
    full_log: 'Mar  1 11:58:00 shop-db sshd[1]: Failed password',
  },
  alert: {
    name: 'sshd: brute force',
    title: 'sshd: brute force',
    severity: 'error',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.853Z',
  },
  resolved: null,
  otherThing: { 'agent.name': 'other-db', 'agent.ip': '192.0.2.8' },
  words: [],
});
