import type { ChangeFixtures } from './fixtures.ts';
import { changed, mappedFixtures } from './mapped.ts';

/** Written from Flux's documentation. */
const failed = {
  involvedObject: {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    name: 'shop-api',
    namespace: 'production',
    uid: '7d0cdc51-ddcf-4743-b223-83ca5c699632',
  },
  metadata: { 'kustomize.toolkit.fluxcd.io/revision': 'main@sha1:731f7eaddfb6af01cb2173e18f0f75b0ba780ef1' },
  severity: 'error',
  reason: 'HealthCheckFailed',
  message: 'Deployment/shop-api not ready',
  reportingController: 'kustomize-controller',
  timestamp: '2026-03-01T11:58:00Z',
};
const revision = failed.metadata['kustomize.toolkit.fluxcd.io/revision'];

export const fixtures = mappedFixtures({
  firing: failed,
  alert: {
    name: 'FluxReconciliation',
    title: 'Kustomization shop-api does not reconcile',
    severity: 'error',
    target: 'shop-api',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: { severity: 'info', reason: 'ReconciliationSucceeded', timestamp: '2026-03-01T11:59:00Z' },
  otherThing: { 'involvedObject.name': 'mailer' },
  words: ['severity', 'reason'],
});

/** Written from Flux's documentation. */
export const changes: ChangeFixtures = {
  succeeded: { ...failed, severity: 'info', reason: 'ReconciliationSucceeded', message: 'applied' },
  change: {
    id: `Kustomization production/shop-api ${revision}`,
    kind: 'deployment',
    title: `shop-api main@sha1:${revision.slice(-40, -33)} applied`,
    where: ['shop-api'],
    at: '2026-03-01T11:58:00.000Z',
    to: revision,
  },
  started: null,
  none: [failed, changed(failed, { severity: 'info', reason: 'Progressing' })],
};
