import type { ChangeFixtures } from './fixtures.ts';
import { changed, mappedFixtures } from './mapped.ts';

/** Written from HashiCorp's documentation. */
const failed = {
  payload_version: 1,
  notification_configuration_id: 'nc-AeUQ2zfKZzW9TiGZ',
  run_url: 'https://app.terraform.io/app/acme/shop-network/runs/run-FwnENkvDnrpyFC7M',
  run_id: 'run-FwnENkvDnrpyFC7M',
  run_message: 'Open port 5432',
  run_created_at: '2026-03-01T11:50:00.000Z',
  run_created_by: 'olivia',
  workspace_id: 'ws-XdeUVMWShTesDMME',
  workspace_name: 'shop-network',
  organization_name: 'acme',
  notifications: [
    {
      message: 'Run Errored',
      trigger: 'run:errored',
      run_status: 'errored',
      run_updated_at: '2026-03-01T11:58:00.000Z',
      run_updated_by: 'olivia',
    },
  ],
};

export const fixtures = mappedFixtures({
  firing: failed,
  alert: {
    name: 'TerraformRun',
    title: 'Terraform run failed in shop-network',
    severity: 'error',
    target: 'shop-network',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: { run_id: 'run-2', 'notifications.0.run_status': 'applied' },
  otherThing: { workspace_name: 'mail-network' },
  words: ['run_status'],
});

/** Written from HashiCorp's documentation. */
export const changes: ChangeFixtures = {
  succeeded: changed(failed, { 'notifications.0.run_status': 'applied' }),
  change: {
    id: 'run-FwnENkvDnrpyFC7M',
    kind: 'infrastructure',
    title: 'Terraform in shop-network applied: Open port 5432',
    where: ['shop-network'],
    at: '2026-03-01T11:58:00.000Z',
    by: 'olivia',
  },
  started: changed(failed, { 'notifications.0.run_status': 'applying' }),
  none: [
    changed(failed, { 'notifications.0.run_status': 'planned' }),
    changed(failed, { 'notifications.0.run_status': null, run_id: null }),
  ],
};
