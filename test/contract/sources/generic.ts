import type { ChangeFixtures } from './fixtures.ts';
import { mappedFixtures } from './mapped.ts';

export const fixtures = mappedFixtures({
  firing: {
    title: '[Triggered] The queue is full',
    alert_name: 'QueueFull',
    severity: 'critical',
    description: '12,000 wait',
    labels: { queue: 'mail', service: 'mailer' },
    timestamp: 1772366280,
    url: 'https://ops.example.com/alerts/7',
  },
  alert: {
    name: 'QueueFull',
    title: 'QueueFull',
    severity: 'critical',
    target: 'mailer',
    startsAt: '2026-03-01T11:58:00.000Z',
    labels: { queue: 'mail', service: 'mailer' },
  },
  resolved: { status: 'resolved' },
  otherThing: { 'labels.queue': 'bills' },
  words: ['title'],
  bad: [
    { payload: null, field: '', says: 'expected a JSON object' },
    { payload: {}, field: 'title', says: 'expected a text' },
    { payload: { name: 'x', status: 'asleep' }, field: 'status', says: 'not "asleep"' },
  ],
});

const change = {
  id: 'deploy-4711',
  kind: 'deployment',
  title: 'shop-api 1.4.2 deployed',
  where: ['Shop-API', 'orders-db'],
  environment: 'production',
  at: '2026-03-01T11:57:00Z',
  by: 'olivia',
  from: '1.4.1',
  to: '1.4.2',
  url: 'https://ci.example.com/4711',
};

export const changes: ChangeFixtures = {
  succeeded: { change },
  change: {
    ...change,
    kind: 'deployment',
    where: ['shop-api', 'orders-db'],
    at: '2026-03-01T11:57:00.000Z',
  },
  started: { change: { ...change, status: 'started' } },
  none: [
    { title: 'Backup failed', status: 'firing', target: 'orders-db' },
    { title: 'Sales', change: '+5%' },
  ],
};
