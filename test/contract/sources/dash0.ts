import { mappedFixtures } from './mapped.ts';

export const fixtures = mappedFixtures({
  firing: {
    type: 'alert.ongoing',
    data: {
      issue: {
        id: 'b9a9da0b-7a79-4a1d-abf3-5cd07649e80a',
        issueIdentifier: '6820705469291328438',
        start: '2026-03-01T11:58:00.474101621Z',
        status: 'critical',
        summary: 'Checkout loses payments',
        description: '4 % fail',
        labels: [{ key: 'service.name', value: { stringValue: 'checkout' } }],
        checkrules: [{ id: '97daff98', name: 'Lost payments' }],
        url: 'https://app.dash0.com/alerting/failed-checks?org=1',
      },
    },
  },
  alert: {
    name: 'Lost payments',
    title: 'Checkout loses payments',
    severity: 'critical',
    target: 'checkout',
    startsAt: '2026-03-01T11:58:00.474Z',
    labels: { 'service.name': 'checkout' },
  },
  resolved: {
    type: 'alert.resolved',
    'data.issue.status': 'resolved',
    'data.issue.end': '2026-03-01T11:59:00Z',
  },
  otherThing: { 'data.issue.id': 'c9a9da0b-7a79-4a1d-abf3-5cd07649e80b' },
  words: ['type', 'status'],
  bad: [
    { payload: {}, field: '', says: 'has nothing at' },
    { payload: { data: { issue: { status: 'critical' } } }, field: 'title', says: 'expected a text' },
  ],
});
