import type { Action } from '../../core/action.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { ActionId } from '../../core/ids.ts';
import type { Sql } from '../../core/sql.ts';
import type { IncidentRecords } from '../../record/record.ts';
import type { DenialRow, IncidentRow } from '../../record/rows.ts';
import { toDenial } from '../../record/rows.ts';
import type { AuditLog } from '../../safety/audit/audit-chain.ts';
import type { ApprovalPolicy } from '../policy/policy.ts';

/** A click on a card: who, from Slack's signed payload; what, as the card they saw names it. */
export interface CardClick {
  readonly actionId: ActionId;
  readonly planHash: string;
  readonly by: string;
}

export interface TakeBackDeps {
  readonly sql: Sql;
  readonly records: IncidentRecords;
  readonly audit: AuditLog;
  readonly policy: Pick<ApprovalPolicy, 'mayDecide'>;
}

/**
 * Takes a No back, wherever it reached. One's own: whoever may deny. Another's: only who may approve all of the very thing, or a
 * person who asked for it could clear the way for themselves.
 */
export async function takeDenialBack(
  deps: TakeBackDeps,
  click: CardClick,
): Promise<{ readonly ok: true; readonly action: Action } | Refusal> {
  const done = await take(deps, click);
  if (!done.ok)
    await deps.audit.append({
      kind: 'denial.take_back_refused',
      actor: click.by,
      details: { action: click.actionId, code: done.code },
    });
  return done;
}

async function take({ sql, records, audit, policy }: TakeBackDeps, { actionId, planHash, by }: CardClick) {
  const action = await records.action(actionId);
  const incident = action && (await records.incident(action.incidentId));
  if (!action || !incident) return refuse('UNKNOWN_ACTION', 'This card is not on record any more.');
  if (action.planHash !== planHash)
    return refuse('PLAN_CHANGED', 'This is not the action that the card shows. Nothing was changed.');
  const [row] = await sql<DenialRow>`SELECT * FROM denial WHERE action_id = ${actionId}`;
  if (!row) return refuse('NOT_DENIED', 'Nothing is on record that could be taken back.');
  const denial = toDenial(row);
  // It holds for each step by itself, in other incidents too: who clears the way for one has to be allowed that one.
  const isOwn = denial.saidBy === by;
  for (const step of isOwn ? [action] : await records.plan(action.planId)) {
    const mayNot = await policy.mayDecide(by, step, incident, isOwn ? 'deny' : 'approve');
    if (mayNot) return mayNot;
  }
  const isFirst = await sql.begin(async (tx) => {
    await tx`SET LOCAL synchronous_commit = on`;
    const rows = await tx`
      UPDATE denial SET taken_back_by = ${by}, taken_back_at = clock_timestamp()
       WHERE id = ${denial.id} AND taken_back_at IS NULL RETURNING id`;
    if (rows.length === 0) return false;
    const { incidentId } = action;
    const denialId = denial.id;
    await records.append(tx, incidentId, { type: 'denial.taken_back', actionId, denialId, by });
    // Cards on which it stands say so.
    const shown = await tx<Pick<IncidentRow, 'id'>>`
      UPDATE incident SET updated_at = clock_timestamp() WHERE id IN (
        SELECT incident_id FROM action WHERE state = 'proposed' AND ${denialId} = ANY (denials_acknowledged)) RETURNING id`;
    await audit.appendIn(tx, {
      kind: 'denial.taken_back',
      actor: by,
      incidentId,
      details: {
        denial: denialId,
        action: actionId,
        shownIn: shown.map(({ id }) => id),
      },
    });
    return true;
  });
  return isFirst
    ? ({ ok: true, action } as const)
    : refuse('TAKEN_BACK_ALREADY', 'This No has been taken back already; your click changed nothing.');
}
