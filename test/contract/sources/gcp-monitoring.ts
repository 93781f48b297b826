import { mappedFixtures } from './mapped.ts';

/** Written from the documentation of Google Cloud. */
export const fixtures = mappedFixtures({
  firing: {
    version: '1.2',
    incident: {
      incident_id: '0.n2x4k1',
      scoping_project_id: 'shop-prod',
      url: 'https://console.cloud.google.com/monitoring/alerting/incidents/0.n2x4k1?project=shop-prod',
      started_at: 1772366280,
      ended_at: null,
      state: 'open',
      severity: 'Critical',
      summary: 'CPU utilization for shop-db is above the threshold of 0.9',
      resource: { type: 'gce_instance', labels: { instance_id: '11223344', zone: 'europe-west1-b' } },
      resource_display_name: 'shop-db',
      metric: {
        type: 'compute.googleapis.com/instance/cpu/utilization',
        labels: { instance_name: 'shop-db' },
      },
      metadata: { system_labels: {}, user_labels: { env: 'prod' } },
      policy_name: 'CPU of databases',
      policy_user_labels: { team: 'data' },
      condition_name: 'VM instance - CPU utilization',
    },
  },
  alert: {
    name: 'VM instance - CPU utilization',
    title: 'VM instance - CPU utilization',
    severity: 'critical',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: { 'incident.state': 'closed', 'incident.ended_at': 1772366400 },
  otherThing: { 'incident.incident_id': '0.n2x4k2', 'incident.resource_display_name': 'other-db' },
  words: ['state'],
  bad: [
    { payload: {}, field: '', says: 'has nothing at' },
    { payload: { incident: 5 }, field: '', says: 'expected a JSON object' },
    { payload: { incident: { state: 'open' } }, field: 'title', says: 'expected a text' },
  ],
});
