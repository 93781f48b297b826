import { mappedFixtures } from './mapped.ts';

export const fixtures = mappedFixtures({
  firing: {
    metadata: { name: 'shop-7d9.17a3', namespace: 'shop', uid: '1c9f8a5e-6f5b-4f0e-8a3b-7a7f6a1f9e21' },
    reason: 'BackOff',
    message: 'Back-off restarting failed container',
    source: { component: 'kubelet', host: 'node-1' },
    firstTimestamp: '2026-03-01T11:50:00Z',
    lastTimestamp: '2026-03-01T11:58:00Z',
    count: 12,
    type: 'Warning',
    clusterName: 'prod',
    involvedObject: {
      kind: 'Pod',
      namespace: 'shop',
      name: 'shop-7d9',
      uid: '0a3d5b1f-5d2b-4d60-9a27-0d6c5f6b1a11',
      labels: { app: 'shop' },
    },
  },
  alert: {
    name: 'BackOff',
    title: 'BackOff Pod/shop-7d9',
    severity: 'warning',
    target: 'shop-7d9',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: null,
  otherThing: {
    'involvedObject.uid': '1a3d5b1f-5d2b-4d60-9a27-0d6c5f6b1a12',
    'involvedObject.name': 'shop-8c1',
  },
  words: ['type'],
});
