import { createWorkspaceSettings, type WorkspaceSettings } from '../actions/policy/workspace-settings.ts';
import type { Config } from '../config/config.ts';
import type { Sql } from '../core/sql.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { openVaultKey } from '../safety/vault/vault-key.ts';
import { fixedSettings } from './fixed-settings.ts';

/** By the environment, and by what was set up in a workspace; null: in the last one. */
export async function settingsInForce(
  sql: Sql,
  config: Config,
  team: string | null = null,
): Promise<WorkspaceSettings> {
  const settings = createWorkspaceSettings({
    sql,
    key: openVaultKey(config.dataDir, config.vaultKey),
    audit: createAuditLog(sql),
    fixed: fixedSettings(config, null),
    team: () => team,
  });
  await settings.refresh();
  return settings;
}
