import type { ChangeFixtures } from './fixtures.ts';
import { changed, mappedFixtures } from './mapped.ts';

/** Written from the documentation of Jenkins' Notification plugin. */
const failed = {
  name: 'deploy-shop',
  display_name: 'Deploy shop',
  url: 'job/deploy-shop/',
  build: {
    full_url: 'https://jenkins.example.com/job/deploy-shop/18/',
    number: 18,
    queue_id: 1,
    timestamp: 1772366280000,
    phase: 'COMPLETED',
    status: 'FAILURE',
    url: 'job/deploy-shop/18/',
    scm: { branch: 'origin/main', commit: '279484c0', culprits: ['olivia'] },
    parameters: { SERVICE: 'shop-api', ENVIRONMENT: 'production', VERSION: '1.4.2' },
  },
};

export const fixtures = mappedFixtures({
  firing: failed,
  alert: {
    name: 'deploy-shop',
    title: 'Deploy shop failed',
    severity: 'error',
    target: 'deploy-shop',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: { 'build.number': 19, 'build.status': 'SUCCESS' },
  otherThing: { name: 'deploy-mailer' },
  words: ['phase', 'status'],
});

/** Written from the documentation of Jenkins' Notification plugin. */
export const changes: ChangeFixtures = {
  succeeded: changed(failed, { 'build.status': 'SUCCESS', 'build.duration': 90_000 }),
  change: {
    id: 'deploy-shop 18',
    kind: 'deployment',
    title: 'Deploy shop #18 ran',
    where: ['shop-api', 'deploy-shop'],
    environment: 'production',
    startedAt: '2026-03-01T11:58:00.000Z',
    at: '2026-03-01T11:59:30.000Z',
    by: 'olivia',
    to: '1.4.2',
  },
  started: changed(failed, { 'build.phase': 'STARTED', 'build.status': null }),
  none: [
    changed(failed, { 'build.phase': 'QUEUED' }),
    changed(failed, { 'build.status': 'ABORTED' }),
    changed(failed, { name: 'unit-tests', 'build.status': 'SUCCESS' }),
  ],
};
