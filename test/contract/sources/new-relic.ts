import { mappedFixtures } from './mapped.ts';

/** Written from New Relic's documentation: what a workflow sends. */
export const fixtures = mappedFixtures({
  firing: {
    id: 'bfa4bd2d-2e1d-4c3a-8b0f-0f2a4c4b8f10',
    issueUrl: 'https://radar-api.service.newrelic.com/accounts/1/issues/bfa4bd2d',
    title: 'shop-db query result is > 90.0 on “Disk used”',
    priority: 'CRITICAL',
    impactedEntities: ['shop-db'],
    totalIncidents: 1,
    state: 'ACTIVATED',
    isCorrelated: false,
    createdAt: 1772366280000,
    updatedAt: 1772366280000,
    alertPolicyNames: ['Databases'],
    alertConditionNames: ['Disk used'],
    workflowName: 'Sentry',
  },
  alert: {
    name: 'Disk used',
    title: 'shop-db query result is > 90.0 on “Disk used”',
    severity: 'critical',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: { state: 'CLOSED', updatedAt: 1772366400000 },
  otherThing: { id: 'cfa4bd2d-2e1d-4c3a-8b0f-0f2a4c4b8f11', impactedEntities: ['other-db'] },
  words: ['state'],
});
