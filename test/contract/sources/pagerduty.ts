import { mappedFixtures } from './mapped.ts';

export const fixtures = mappedFixtures({
  firing: {
    event: {
      id: '01DEFAULTEVENT1',
      event_type: 'incident.triggered',
      resource_type: 'incident',
      occurred_at: '2026-03-01T11:58:00Z',
      data: {
        id: 'PGR0VU2',
        type: 'incident',
        html_url: 'https://example.pagerduty.com/incidents/PGR0VU2',
        number: 2,
        status: 'triggered',
        incident_key: 'd3640fbd41094207a1c11e58e46b1662',
        created_at: '2026-03-01T11:57:59Z',
        title: 'Checkout is slow',
        service: { id: 'PF9KMXH', summary: 'checkout', type: 'service_reference' },
        escalation_policy: { id: 'PUS0KTE', summary: 'Default' },
        priority: { id: 'PSO75BM', summary: 'P2' },
        urgency: 'high',
      },
    },
  },
  alert: {
    name: null,
    title: 'Checkout is slow',
    severity: 'error',
    target: 'checkout',
    url: 'https://example.pagerduty.com/incidents/PGR0VU2',
  },
  resolved: {
    'event.id': '01DEFAULTEVENT2',
    'event.event_type': 'incident.resolved',
    'event.data.status': 'resolved',
  },
  otherThing: { 'event.id': '01DEFAULTEVENT3', 'event.data.id': 'PGR0VU3' },
  words: ['status', 'type'],
  bad: [
    { payload: {}, field: '', says: 'has nothing at' },
    { payload: { event: 'x' }, field: '', says: 'expected a JSON object' },
    { payload: { event: { data: { type: 'incident' } } }, field: 'title', says: 'expected a text' },
  ],
});
