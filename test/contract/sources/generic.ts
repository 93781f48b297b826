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
