import type { Tx } from '../../core/sql.ts';
import type { KillSwitchServiceDeps } from './kill-switch-service.ts';
import { targetsIn } from './running-actions.ts';

/** Tells every open incident in the scope, in the switch's own transaction: the thread shows it from then on. */
export async function announce(
  tx: Tx,
  targets: KillSwitchServiceDeps['targets'],
  scope: string,
  type: 'switch.set' | 'switch.cleared',
  body: object,
  key: string | null = null,
): Promise<void> {
  const names = await targetsIn(tx, targets, scope);
  await tx`
    INSERT INTO event (incident_id, type, body, dedupe_key)
    SELECT id, ${type}, ${tx.json({ scope, ...body })}, ${key} FROM incident
     WHERE state NOT IN ('ignored', 'resolved')
       AND (${names === null} OR target = ANY (${tx.array(names ?? [])}::text[]))`;
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
