import type { ChangeFixtures } from './fixtures.ts';
import { mappedFixtures } from './mapped.ts';

/** As the template in docs/changes.md writes it, with values of Argo CD's documentation. */
const failed = {
  app: 'shop-api',
  project: 'shop',
  namespace: 'production',
  phase: 'Failed',
  health: 'Healthy',
  revision: 'f95f852bd8fca8fcc58a9a2d6c842781e32a215e',
  startedAt: '2026-03-01T11:55:00Z',
  finishedAt: '2026-03-01T11:57:00Z',
  by: 'olivia',
  message: 'one or more objects failed to apply',
  url: 'https://argocd.example.com/applications/shop-api',
};

export const fixtures = mappedFixtures({
  firing: failed,
  alert: {
    name: 'ArgoCDSync',
    title: 'shop-api failed to sync',
    severity: 'error',
    target: 'shop-api',
    startsAt: '2026-03-01T11:55:00.000Z',
  },
  resolved: { phase: 'Succeeded', startedAt: '2026-03-01T11:59:00Z' },
  otherThing: { app: 'mailer' },
  words: ['phase', 'health'],
});

export const changes: ChangeFixtures = {
  succeeded: { ...failed, phase: 'Succeeded' },
  change: {
    id: 'shop-api 2026-03-01T11:55:00Z',
    kind: 'deployment',
    title: 'shop-api f95f852 synced',
    where: ['shop-api'],
    startedAt: '2026-03-01T11:55:00.000Z',
    at: '2026-03-01T11:57:00.000Z',
    by: 'olivia',
    to: failed.revision,
  },
  started: { ...failed, phase: 'Running', finishedAt: '' },
  none: [{ ...failed, phase: '', startedAt: '', health: 'Degraded' }],
};
