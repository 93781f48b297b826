import type { Sql } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import { sha256 } from '../sha256.ts';
import type { AuditLog } from './audit-chain.ts';

/**
 * Puts a new version of a setting (a file, the environment) into the audit log: once, whichever process reads it first.
 * Returns whether it was new. Committed together with its entry, before anybody goes by it.
 */
export function auditConfigChange(
  { sql, audit }: { readonly sql: Sql; readonly audit: AuditLog },
  setting: {
    readonly name: string;
    readonly text: string;
    readonly kind: string;
    readonly details: { readonly [key: string]: Json };
  },
): Promise<boolean> {
  const { name, text, kind, details } = setting;
  const digest = sha256(text);
  return sql.begin(async (tx) => {
    const rows = await tx`
      INSERT INTO seen_setting (name, sha256) VALUES (${name}, ${digest})
      ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, at = clock_timestamp()
        WHERE seen_setting.sha256 <> excluded.sha256 RETURNING name`;
    if (rows.length === 0) return false;
    await audit.appendIn(tx, { kind, actor: 'system', details: { sha256: digest, ...details } });
    return true;
  });
}
