import type { Config } from '../config/config.ts';
import { asIncidentId, type IncidentId } from '../core/ids.ts';
import type { Role } from '../core/incident.ts';
import type { Sql, Tx } from '../core/sql.ts';
import type { IncidentRecords } from '../record/record.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import { createModelGuard, type ModelGuard } from '../safety/model-guard/model-guard.ts';
import { redact } from '../safety/screen/redact.ts';
import { sha256 } from '../safety/sha256.ts';

/** What models have written themselves, and now another reads: they quote what they have read. */
const QUOTES = /^(?:tested|test|triage|diagnosis|last_round)\b/;

/** The guard with the deployment's key; what it finds becomes events of the incident and entries of the audit log. */
export async function openModelGuard(deps: {
  readonly sql: Sql;
  readonly records: IncidentRecords;
  readonly audit: AuditLog;
  readonly policy: Config['modelGuard'];
}): Promise<ModelGuard> {
  const { sql, records, audit, policy } = deps;
  const [row] = await sql<{ key: string }>`SELECT key FROM placeholder_key`;
  const blocked = policy.injection === 'block';
  return createModelGuard({
    key: String(row?.key),
    policy,
    report: async (incidentId, role, found) => {
      await sql.begin(async (tx) => {
        for (const { where: place, kinds } of found) {
          const where = redact(place).slice(0, 200);
          const id = asIncidentId(incidentId);
          // Whatever is quoted is told where it was read.
          if (QUOTES.test(where) && (await hasFound(tx, id))) continue;
          const event = { type: 'injection.found', role: role as Role, where, kinds, blocked } as const;
          const key = sha256(JSON.stringify({ where, kinds, blocked })).slice(0, 24);
          // Found again after a restart, by the next role or by another that looks at the same time, it is no news.
          if (await records.append(tx, id, event, `injection:${key}`))
            await audit.appendIn(tx, {
              kind: 'injection.found',
              actor: role,
              incidentId,
              details: { where, kinds: [...kinds], blocked },
            });
        }
      });
    },
  });
}

const hasFound = async (tx: Tx, id: IncidentId): Promise<boolean> =>
  (await tx`SELECT FROM event WHERE incident_id = ${id} AND type = 'injection.found' LIMIT 1`).length > 0;
