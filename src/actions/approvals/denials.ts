import { randomBytes } from 'node:crypto';
import type { Action } from '../../core/action.ts';
import {
  coveredBy,
  type Denial,
  type DenialReach,
  type DenialScope,
  formatObjects,
  objectKeys,
} from '../../core/denial.ts';
import { describePlan } from '../../core/describe-act.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import { newId } from '../../core/new-id.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { ActionRow, DenialRow } from '../../record/rows.ts';
import { toDenial } from '../../record/rows.ts';
import { actionKey, actKeys, denialKeys } from './denial-keys.ts';

/** What of an action says which denials cover it. */
export type Covered = Pick<
  Action,
  'incidentId' | 'tool' | 'verbs' | 'target' | 'command' | 'identity' | 'objects' | 'denialsAcknowledged'
>;

/** The denials in force now that cover it, oldest first; by the database's clock. */
export async function denialsOf(sql: Sql | Tx, action: Covered): Promise<readonly Denial[]> {
  const rows = await sql<DenialRow>`
    SELECT * FROM denial
     WHERE keys && ${sql.array([...denialKeys(action)])}::text[] AND taken_back_at IS NULL
       AND (until IS NULL OR until > clock_timestamp())
     ORDER BY said_at, id`;
  return rows.map(toDenial);
}

/** Those among them that its card did not show, so that nobody has approved it although they stand. */
export async function unacknowledged(sql: Sql | Tx, action: Covered): Promise<readonly Denial[]> {
  const standing = await denialsOf(sql, action);
  return standing.filter(({ id }) => !action.denialsAcknowledged.includes(id));
}

/** Why an approved action may not begin, asked where nothing else on its system can begin or be denied. */
export async function deniedMeanwhile(
  tx: Tx,
  action: Covered & Pick<Action, 'incidentId' | 'undoes' | 'decidedBy' | 'requestedBy'>,
  byPolicy: string,
): Promise<Refusal | undefined> {
  const standing =
    action.decidedBy === byPolicy ? await denialsOf(tx, action) : await unacknowledged(tx, action);
  // Whoever said No to touching it may take back what was done to it.
  const denial = standing.find(({ saidBy }) => action.undoes === null || saidBy !== action.requestedBy);
  // What was denied elsewhere may be of a channel that this one's readers do not see.
  const what = denial?.incidentId === action.incidentId ? labelOf(denial) : 'what it touches';
  return denial && refuse('DENIED', `Somebody has said no to ${what} since this was proposed.`);
}

/**
 * What is denied in this very round of an incident is not asked for again in it: another way is looked for, which may be the
 * same act with other arguments. Undefined when nothing of the kind stands against the steps.
 */
export async function deniedThisRound(
  tx: Tx,
  { incidentId }: Pick<Action, 'incidentId'>,
  steps: readonly Parameters<typeof actionKey>[0][],
  standing: readonly Denial[],
): Promise<Refusal | undefined> {
  const here = standing.filter((denial) => denial.incidentId === incidentId);
  if (here.length === 0) return undefined;
  const rows = await tx<Pick<ActionRow, 'id'>>`
    SELECT a.id FROM action a JOIN incident i ON i.id = a.incident_id AND i.round = a.round
      JOIN denial d ON d.action_id = a.id
     WHERE a.id = ANY (${tx.array(here.map(({ actionId }) => String(actionId)))}::text[])
       AND (d.scope <> 'act' OR d.keys && ${tx.array(steps.map(actionKey))}::text[])`;
  const denial = here.findLast(({ actionId }) => rows.some(({ id }) => id === actionId));
  if (!denial) return undefined;
  const because = denial.reason ? `: “${denial.reason}”` : '';
  return refuse('DENIED', `A person said no to ${labelOf(denial)}${because}.`);
}

function labelOf({ scope, label }: Denial): string {
  if (scope === 'action') return 'exactly this';
  return scope === 'act' ? `“${label}”` : label;
}

/** Nothing on a system begins, and nothing of it is denied, while another holds this. */
export async function lockSystem(
  tx: Tx,
  { target, identity }: Pick<Action, 'target' | 'identity'>,
): Promise<void> {
  // By name as well: a name that has just come to stand for another system is still one thing to people.
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${target}, 0))`;
  if (identity !== null) await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`system ${identity}`}, 0))`;
}

/**
 * Puts a No on record, under its lock; returns it. A No to a plan is one to all of its steps, and to all that they would touch
 * as far as it reaches.
 */
export async function recordDenial(
  tx: Tx,
  action: Action,
  steps: readonly Action[],
  said: { readonly by: string; readonly reason: string; readonly reach: DenialReach },
): Promise<Denial> {
  const objects = steps.flatMap((step) => step.objects);
  const hasApplication = objects.some(({ application }) => application !== undefined);
  const wide = said.reach.scope === 'application' && !hasApplication ? 'object' : said.reach.scope;
  // Without things to name it can only be about what was to be done.
  const scope = objects.length === 0 && wide !== 'action' ? 'act' : wide;
  const covered = coveredBy(objects, scope);
  const label = scope === 'act' ? describePlan(steps) : formatObjects(covered);
  const keys = keysOf(scope, steps, covered);
  const minutes = scope === 'action' ? null : said.reach.minutes;
  const [row] = await tx<DenialRow>`
    INSERT INTO denial (id, incident_id, action_id, scope, keys, kind, label, said_by, reason, until, channel)
    SELECT ${newId('den', randomBytes)}, ${action.incidentId}, ${action.id}, ${scope}, ${tx.array([...keys])}::text[],
           ${objects[0]?.kind ?? action.tool}, ${label}, ${said.by}, ${said.reason},
           clock_timestamp() + ${minutes}::float8 * interval '1 minute',
           (SELECT channel FROM incident WHERE id = ${action.incidentId})
    RETURNING *`;
  if (!row) throw new Error('the denial was not stored');
  return toDenial(row);
}

function keysOf(scope: DenialScope, steps: readonly Action[], covered: ReturnType<typeof coveredBy>) {
  if (scope !== 'act' && scope !== 'action') return objectKeys(covered);
  // The very commands as well: those are not asked for again in the round in which they were denied.
  return [...(scope === 'act' ? steps.flatMap(actKeys) : []), ...steps.map(actionKey)];
}

/**
 * What waits for its approval or its run, in whichever incident, and is covered in any of its steps by a No that its card does
 * not show: it is not what anybody would decide on now. One that has begun is stopped at the claim of its next step. Their rows are locked before anything is written of them: everybody takes an action's
 * row before the audit log's head.
 */
export async function overtakenBy(
  tx: Tx,
  denial: Denial,
): Promise<readonly Pick<Action, 'id' | 'incidentId' | 'beside'>[]> {
  return tx<Pick<Action, 'id' | 'incidentId' | 'beside'>>`
    SELECT a.id, a.incident_id AS "incidentId", a.beside FROM action a JOIN denial d ON d.id = ${denial.id}
     WHERE a.state IN ('proposed', 'approved') AND NOT a.audit_only
       AND (a.undoes IS NULL OR a.requested_by <> d.said_by)
       AND EXISTS (SELECT FROM action s WHERE s.plan_id = a.plan_id AND s.object_keys && d.keys)
       AND NOT d.id = ANY (a.denials_acknowledged)
     ORDER BY a.id FOR UPDATE OF a`;
}
