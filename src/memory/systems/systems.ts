import { messageOf } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import { readFacts, type SystemFacts } from './system-facts.ts';

export interface TargetSystem {
  readonly target: string;
  readonly facts: SystemFacts;
  readonly seenAt: string;
  /** When it was last another. */
  readonly changedAt: string;
}

/** Asks a target what it runs. @throws when it cannot be asked now */
export type ReadSystem = (target: string) => Promise<SystemFacts>;

export async function recordSystem(sql: Sql, target: string, facts: SystemFacts): Promise<void> {
  await sql`
    INSERT INTO target_system AS there (target, facts) VALUES (${target}, ${sql.json(facts)})
    ON CONFLICT (target) DO UPDATE SET facts = EXCLUDED.facts, seen_at = clock_timestamp(),
      changed_at = CASE WHEN there.facts = EXCLUDED.facts THEN there.changed_at ELSE clock_timestamp() END`;
}

/** Null when it was never seen. */
export async function systemOf(sql: Sql, target: string | null): Promise<SystemFacts | null> {
  if (target === null) return null;
  const [row] = await sql<{ facts: unknown }>`SELECT facts FROM target_system WHERE target = ${target}`;
  return readFacts(row?.facts);
}

/** Of what an incident is about; null when that was never seen, or is no target. */
export async function systemOfIncident(tx: Tx, incidentId: IncidentId): Promise<SystemFacts | null> {
  const [row] = await tx<{ facts: unknown }>`
    SELECT t.facts FROM incident i JOIN target_system t ON t.target = i.target WHERE i.id = ${incidentId}`;
  return readFacts(row?.facts);
}

export async function listSystems(sql: Sql): Promise<readonly TargetSystem[]> {
  const rows = await sql<TargetSystem>`
    SELECT target, facts, seen_at AS "seenAt", changed_at AS "changedAt" FROM target_system ORDER BY target`;
  return rows.map((row) => ({ ...row, facts: readFacts(row.facts) ?? {} }));
}

/** Looks at every target once. One that does not answer keeps what was seen last. */
export async function lookAtSystems(deps: {
  readonly sql: Sql;
  readonly targets: Iterable<string>;
  readonly read: ReadSystem;
  readonly log: Log;
}): Promise<void> {
  for (const target of deps.targets)
    try {
      await recordSystem(deps.sql, target, await deps.read(target));
    } catch (error) {
      deps.log.debug({ target, error: messageOf(error) }, 'what this target runs could not be seen');
    }
}
