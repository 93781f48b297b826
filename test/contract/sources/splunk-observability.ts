import { mappedFixtures } from './mapped.ts';

/** Written from Splunk's documentation. */
export const fixtures = mappedFixtures({
  firing: {
    severity: 'Critical',
    status: 'too high',
    statusExtended: 'anomalous',
    detector: 'Disks',
    detectorUrl: 'https://app.eu0.signalfx.com/#/detector/D1',
    incidentId: 'E1',
    rule: 'Disk is full',
    originatingMetric: 'disk.utilization',
    messageTitle: 'Critical Alert: Disk is full (Disks)',
    messageBody: 'The value of disk.utilization is above 90.',
    dimensions: { host: 'shop-db', env: 'prod' },
    timestamp: '2026-03-01T11:58:00Z',
  },
  alert: {
    name: 'Disk is full',
    title: 'Critical Alert: Disk is full (Disks)',
    severity: 'critical',
    target: 'shop-db',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: { status: 'ok', statusExtended: 'ok', messageTitle: 'Back to normal: Disk is full (Disks)' },
  otherThing: { incidentId: 'E2', 'dimensions.host': 'other-db' },
  words: ['status', 'statusExtended'],
});
