import type { Action } from '../../core/action.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { Tx } from '../../core/sql.ts';
import type { Demands } from './rule.ts';

export type Caps = Pick<Demands, 'rule' | 'perTarget' | 'everywhere'>;

/** Whether as many actions as the rule lets have begun on the target's system, by whichever name, or on all of them, within its time. What certainly did not run is not one. `steps`: how many are about to, with this one. */
export async function overCap(
  tx: Tx,
  { id, target, identity }: Pick<Action, 'id' | 'target' | 'identity'>,
  caps: Caps | undefined,
  steps = 1,
): Promise<Refusal | undefined> {
  for (const [where, cap] of [
    [`on ${target}`, caps?.perTarget],
    ['on all targets', caps?.everywhere],
  ] as const) {
    if (!cap) continue;
    const [row] = await tx<{ n: number }>`
      SELECT count(*) AS n FROM action
       WHERE started_at > statement_timestamp() - ${cap.minutes} * interval '1 minute' AND id <> ${id}
         AND NOT (state = 'failed' AND tool_call_id IS NULL) AND (${where === 'on all targets'} OR target = ${target} OR identity = ${identity})`;
    const ran = row?.n ?? 0;
    if (ran + steps > cap.actions)
      return refuse(
        'CAPPED',
        `The rule “${caps?.rule}” lets ${cap.actions} actions run ${where} in ${cap.minutes} min, and ${steps > 1 && ran < cap.actions ? `this plan has ${steps} left` : 'they have'}.`,
      );
  }
  return undefined;
}
