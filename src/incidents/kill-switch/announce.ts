import type { Tx } from '../../core/sql.ts';
import type { KillSwitchServiceDeps } from './kill-switch-service.ts';
import { targetsIn } from './running-actions.ts';

/**
 * Tells every open incident in the scope, and every one with a card that asks for something there, as fixed ones do beside
 * their course; in the switch's own transaction: the thread shows it from then on.
 */
export async function announce(
  tx: Tx,
  targets: KillSwitchServiceDeps['targets'],
  scope: string,
  type: 'switch.set' | 'switch.cleared',
  body: object,
  key: string | null = null,
): Promise<void> {
  const names = await targetsIn(tx, targets, scope);
  const named = tx.array(names ?? []);
  await tx`
    INSERT INTO event (incident_id, type, body, dedupe_key)
    SELECT id, ${type}, ${tx.json({ scope, ...body })}, ${key} FROM (
      SELECT id FROM incident
       WHERE state NOT IN ('ignored', 'resolved') AND (${names === null} OR target = ANY (${named}::text[]))
      UNION SELECT incident_id FROM action
       WHERE state = 'proposed' AND NOT audit_only AND (${names === null} OR target = ANY (${named}::text[]))) AS told`;
}

export async function announceCleared(
  tx: Tx,
  { targets, audit }: Pick<KillSwitchServiceDeps, 'targets' | 'audit'>,
  scope: string,
  by: string,
  reason: string,
): Promise<void> {
  await announce(tx, targets, scope, 'switch.cleared', { by, reason });
  await audit.appendIn(tx, { kind: 'switch.cleared', actor: by, details: { scope, reason } });
}

/** One setting of the switch, as incidents are told of it. */
export const settingKey = (scope: string, since: string): string => `switch:${scope}:${since}`;
