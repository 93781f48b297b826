import type { ChangeFixtures } from './fixtures.ts';
import { changed, mappedFixtures } from './mapped.ts';

/** Written from GitHub's documentation. */
export const fixtures = mappedFixtures({
  firing: {
    action: 'completed',
    workflow_run: {
      id: 30433642,
      name: 'Deploy',
      workflow_id: 159038,
      head_branch: 'main',
      run_attempt: 1,
      status: 'completed',
      conclusion: 'failure',
      display_title: 'Pay by card',
      html_url: 'https://github.com/acme/shop/actions/runs/30433642',
      run_started_at: '2026-03-01T11:58:00Z',
      updated_at: '2026-03-01T11:59:00Z',
    },
    repository: { name: 'shop', full_name: 'acme/shop' },
  },
  alert: {
    name: 'Deploy',
    title: 'Deploy failed in acme/shop',
    severity: 'error',
    target: 'shop',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: { 'workflow_run.id': 30433643, 'workflow_run.conclusion': 'success' },
  otherThing: { 'workflow_run.workflow_id': 159039, 'workflow_run.name': 'Test' },
  words: ['conclusion'],
});

const deployed = {
  action: 'created',
  deployment_status: {
    id: 7,
    state: 'success',
    environment: 'production',
    target_url: 'https://github.com/acme/shop/actions/runs/30433642',
    created_at: '2026-03-01T11:57:30Z',
  },
  deployment: {
    id: 145988746,
    sha: 'f95f852bd8fca8fcc58a9a2d6c842781e32a215e',
    ref: 'v1.4.2',
    task: 'deploy',
    payload: { service: 'shop-api' },
    environment: 'production',
    description: null,
    creator: { login: 'olivia' },
    created_at: '2026-03-01T11:55:00Z',
  },
  repository: { name: 'shop', full_name: 'acme/shop', html_url: 'https://github.com/acme/shop' },
};
const { deployment_status: _none, ...begun } = deployed;

/** Written from GitHub's documentation. */
export const changes: ChangeFixtures = {
  succeeded: deployed,
  change: {
    id: 'deployment acme/shop 145988746',
    kind: 'deployment',
    title: 'shop-api v1.4.2 deployed',
    where: ['shop-api', 'shop', 'acme/shop'],
    environment: 'production',
    startedAt: '2026-03-01T11:55:00.000Z',
    at: '2026-03-01T11:57:30.000Z',
    by: 'olivia',
    to: 'v1.4.2',
    url: 'https://github.com/acme/shop/actions/runs/30433642',
  },
  started: begun,
  none: [
    changed(deployed, { 'deployment_status.state': 'inactive' }),
    {
      action: 'completed',
      check_run: { id: 1, name: 'Deploy', conclusion: 'neutral' },
      repository: { name: 'shop' },
    },
    { zen: 'Keep it logically awesome.', hook_id: 1 },
  ],
};
