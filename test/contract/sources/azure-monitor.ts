import { mappedFixtures } from './mapped.ts';

/** Written from the documentation of the common alert schema. */
export const fixtures = mappedFixtures({
  firing: {
    schemaId: 'azureMonitorCommonAlertSchema',
    data: {
      essentials: {
        alertId: '/subscriptions/1/providers/Microsoft.AlertsManagement/alerts/a1',
        originAlertId: '1_shop_microsoft.insights_metricAlerts_cpu-high_-1',
        alertRule: 'cpu-high',
        severity: 'Sev1',
        signalType: 'Metric',
        monitorCondition: 'Fired',
        monitoringService: 'Platform',
        alertTargetIDs: [
          '/subscriptions/1/resourcegroups/shop/providers/microsoft.compute/virtualmachines/shop-db',
        ],
        configurationItems: ['shop-db'],
        firedDateTime: '2026-03-01T11:58:00.0000000Z',
        description: 'The CPU of a database is busy',
      },
      alertContext: {
        condition: { allOf: [{ metricName: 'Percentage CPU', dimensions: [{ name: 'tier', value: 'db' }] }] },
      },
    },
  },
  alert: {
    name: 'cpu-high',
    title: 'cpu-high',
    severity: 'error',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: {
    'data.essentials.monitorCondition': 'Resolved',
    'data.essentials.resolvedDateTime': '2026-03-01T11:59:00.0000000Z',
  },
  otherThing: {
    'data.essentials.originAlertId': '2_shop',
    'data.essentials.configurationItems': ['other-db'],
  },
  words: ['monitorCondition'],
  bad: [
    { payload: {}, field: '', says: 'has nothing at' },
    { payload: { data: { essentials: { alertRule: 'x' } } }, field: 'status', says: 'firing or resolved' },
  ],
});
