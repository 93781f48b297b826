import { mappedFixtures } from './mapped.ts';

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
