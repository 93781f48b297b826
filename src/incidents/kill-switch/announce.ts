import type { Tx } from '../../core/sql.ts';
import type { KillSwitchServiceDeps } from './kill-switch-service.ts';
import { targetsIn } from './running-actions.ts';

/** More incidents at work are told of a stop when it first holds them up: a switch is set at once, however bad the night is. */
const TOLD = 1_000;

/**
 * Tells the incidents in the scope that are at work, or of which something was said within a day, the newest first, and all with a
 * card that asks for something there, as fixed ones do beside their course; in the switch's own transaction: the thread shows it from
 * then on. Those that have waited for people for longer are not rung out of their sleep.
 */
export async function announceSet(
  tx: Tx,
  targets: KillSwitchServiceDeps['targets'],
  scope: string,
  body: { readonly by: string; readonly reason: string; readonly until: string | null },
  key: string,
): Promise<void> {
  const names = await targetsIn(tx, targets, scope);
  const named = tx.array(names ?? []);
  // Materialized, or the planner would ask each of all that are open for its time.
  await tx`
    WITH awake AS MATERIALIZED (
      SELECT id, state, opened_at, target FROM incident
       WHERE state IN ('open', 'triaging', 'diagnosing', 'planning', 'awaiting_approval', 'remediating', 'verifying')
      UNION SELECT id, state, opened_at, target FROM incident WHERE updated_at > statement_timestamp() - interval '1 day')
    INSERT INTO event (incident_id, type, body, dedupe_key)
    SELECT id, 'switch.set', ${tx.json({ scope, ...body })}, ${key} FROM (
      (SELECT id FROM awake
        WHERE state NOT IN ('ignored', 'resolved') AND (${names === null} OR target = ANY (${named}::text[]))
        ORDER BY opened_at DESC LIMIT ${TOLD})
      UNION SELECT incident_id FROM action
       WHERE state = 'proposed' AND NOT audit_only AND (${names === null} OR target = ANY (${named}::text[]))) AS told`;
}

/** Tells those that were told of the stop, unless they are over and ask for nothing. */
export async function announceCleared(
  tx: Tx,
  { audit }: Pick<KillSwitchServiceDeps, 'audit'>,
  scope: string,
  by: string,
  reason: string,
): Promise<void> {
  await tx`
    INSERT INTO event (incident_id, type, body)
    SELECT t.id, 'switch.cleared', ${tx.json({ scope, by, reason })} FROM (
      SELECT DISTINCT s.incident_id AS id FROM event s
       WHERE s.type = 'switch.set' AND s.body->>'scope' = ${scope} AND s.seq > coalesce((
         SELECT c.seq FROM event c WHERE c.type = 'switch.cleared' AND c.body->>'scope' = ${scope} ORDER BY c.seq DESC LIMIT 1), 0)) AS t
     WHERE (SELECT i.id FROM incident i WHERE i.id = t.id AND i.state NOT IN ('ignored', 'resolved') LIMIT 1) IS NOT NULL
        OR (SELECT a.id FROM action a WHERE a.incident_id = t.id AND a.state = 'proposed' LIMIT 1) IS NOT NULL`;
  await audit.appendIn(tx, { kind: 'switch.cleared', actor: by, details: { scope, reason } });
}

/** One setting of the switch, as incidents are told of it. */
export const settingKey = (scope: string, since: string): string => `switch:${scope}:${since}`;
