import type { ChangeFixtures } from './fixtures.ts';
import { changed, mappedFixtures } from './mapped.ts';

/** Written from GitLab's documentation. */
const failed = {
  object_kind: 'deployment',
  status: 'failed',
  status_changed_at: '2026-03-01 11:58:00 +0000',
  deployment_id: 15,
  deployable_id: 796,
  deployable_url: 'https://gitlab.example.com/acme/shop/-/jobs/796',
  environment: 'production',
  project: {
    id: 30,
    name: 'shop',
    path_with_namespace: 'acme/shop',
    web_url: 'https://gitlab.example.com/acme/shop',
  },
  short_sha: '279484c0',
  ref: 'v1.4.2',
  user: { name: 'Olivia', username: 'olivia' },
  commit_title: 'Pay by card',
};

export const fixtures = mappedFixtures({
  firing: failed,
  alert: {
    name: 'Deployment to production',
    title: 'Deployment to production failed in acme/shop',
    severity: 'error',
    target: 'shop',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: { status: 'success', deployment_id: 16 },
  otherThing: { environment: 'staging', deployment_id: 17 },
  words: ['object_kind', 'status'],
});

/** Written from GitLab's documentation. */
export const changes: ChangeFixtures = {
  succeeded: { ...failed, status: 'success' },
  change: {
    id: 'deployment acme/shop 15',
    kind: 'deployment',
    title: 'shop v1.4.2 deployed',
    where: ['shop', 'acme/shop'],
    environment: 'production',
    at: '2026-03-01T11:58:00.000Z',
    by: 'olivia',
    to: 'v1.4.2',
  },
  started: { ...failed, status: 'running', status_changed_at: '2026-03-01 11:55:00 +0000' },
  none: [
    changed(failed, { status: 'canceled' }),
    {
      object_kind: 'pipeline',
      object_attributes: { id: 31, ref: 'main', status: 'success' },
      project: { name: 'shop' },
    },
    { object_kind: 'push', project: { name: 'shop' } },
  ],
};
