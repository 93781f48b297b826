import { randomBytes } from 'node:crypto';
import { mayRunUnasked, unaskedBy } from '../approvals/autonomy.ts';
import { denialsOf, deniedThisRound, lockSystem } from '../approvals/denials.ts';
import { type Plan, planHash } from '../approvals/plan-hash.ts';
import { withoutPolicy } from '../approvals/rules/policy-rules.ts';
import type { Demands } from '../approvals/rules/rule.ts';
import type { Risk } from '../domain/action.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { applicationKeys, objectKeys, type TouchedObject } from '../domain/denial.ts';
import { OpsError, type Refusal, refuse } from '../domain/errors.ts';
import { type ActionId, asActionId } from '../domain/ids.ts';
import { newId } from '../domain/new-id.ts';
import { sameCommand } from '../domain/same-command.ts';
import type { Tx } from '../domain/sql.ts';
import type { Json, ProposalNotes, VerifyPlan } from '../domain/tool-call.ts';
import type { Credential } from '../security/credentials.ts';
import { plainJson } from '../security/inputs/plain-json.ts';
import { switchScopes } from '../security/kill-switch.ts';
import { rateRefusal } from '../security/rate-limit.ts';
import type { ActiveTool, ToolContext } from '../tools/define.ts';
import { aimOf, type ReadsCriterion, readRed, storeReading } from './aim.ts';
import type { GateDeps } from './gate-deps.ts';
import type { Screened } from './screened.ts';
import { touchedBy } from './touched.ts';

/** Whose click asked for it, and which action it takes back. */
export interface UndoOrder {
  readonly actionId: ActionId;
  readonly by: string;
}

/** A person who was asked and said No has it asked again: it is not kept back for the No of this round. */
export interface AgainOrder {
  /** In the transaction that stores the proposal, which is rolled back when this throws. */
  stored(tx: Tx, actionId: ActionId, expiresMinutes: number): Promise<void>;
}

/**
 * Station 9 for a call nobody has approved: reads the state, and writes the action as it would run. Nothing is changed.
 * One undecided action an incident: asked again after a crash, the same plan is answered with the action already there.
 */
export async function propose(
  deps: GateDeps & { readonly screened: Screened; readonly criterion: ReadsCriterion },
  credential: Credential,
  tool: ActiveTool<unknown, Json>,
  context: ToolContext,
  input: Json,
  notes: ProposalNotes | undefined,
  undo?: UndoOrder,
  again?: AgainOrder,
): Promise<{ readonly ok: true; readonly actionId: ActionId; readonly text: string } | Refusal> {
  const { sql, records, screened } = deps;
  const target = context.target.name;
  const command = tool.command(input);
  // Promise 2: what redaction would have to hide cannot be shown, so it cannot be approved.
  const hides = (value: Json): boolean => canonicalJson(deps.redactJson(value)) !== canonicalJson(value);
  const secret = refuse(
    'SECRET_IN_PLAN',
    'The arguments hold what looks like a secret; such an action cannot be shown, so it cannot be proposed.',
  );
  if (deps.redact(command) !== command || hides(input)) return secret;
  // A placeholder that nothing could be put back for: what would run is not what anybody sees.
  if (PLACEHOLDER.test(command) || PLACEHOLDER.test(canonicalJson(input)))
    return refuse(
      'HIDDEN_IN_PLAN',
      'An argument stands for something that is hidden; such an action cannot be shown, so it cannot be proposed.',
    );

  const identity = await deps.identity(target);
  const system = identity.systemIdentifier;
  const ranBefore = await sql`
    SELECT command, state FROM action WHERE incident_id = ${credential.incidentId}
      AND NOT (${tool.isRepeatable === true} AND round < (SELECT round FROM incident WHERE id = ${credential.incidentId}))
      AND (target = ${target} OR identity = ${system})
      AND tool = ${tool.name} AND state IN ('failed', 'succeeded') AND tool_call_id IS NOT NULL`;
  // A person may take back what has been taken back and done again.
  const ran = undo ? undefined : ranBefore.find((row) => sameCommand(String(row['command']), command));
  if (ran)
    return refuse(
      'TRIED_ALREADY',
      `"${command}" has already been run in this incident${ran['state'] === 'failed' ? ' and failed' : ''}; it is not run again.`,
    );

  const aim = await aimOf(sql, credential, tool, input, notes, undo !== undefined);
  if ('ok' in aim) return aim;
  if (hides(aim.criterion as unknown as Json)) return secret;
  const reading = aim.criterion && (await readRed(deps, credential, context, aim.criterion));
  if (reading && 'ok' in reading) return reading;
  const before = await tool.preflight(context, input);
  const guard = plainOf(before.guard);
  const objects = touchedBy(tool, input, guard, before, system).map((each) => shownObject(each, shown));
  const limit = tool.limit?.(input, guard, objects);
  const limited = limit && (await rateRefusal(sql, limit));
  if (limited) return limited;
  const id = asActionId(newId('act', randomBytes));
  const stopped = await deps.killSwitch.stopped(switchScopes(target, context.target.domain));
  const auditOnly = stopped !== undefined;
  // The mode is the operator's lasting word; a switch is taken back, and then this is looked at again.
  const heldBy = stopped?.code === 'STOPPED' ? stopped.reason : null;
  const verify = aim.criterion ?? tool.effect(input, guard);
  if (hides(verify as unknown as Json)) return secret;
  const plan: Omit<Plan, 'denialsAcknowledged'> = {
    tool: tool.name,
    target,
    input,
    command,
    guard,
    why: shown(notes?.why ?? ''),
    blastRadius: shown(before.blastRadius),
    preflight: [...(before.objection ? [`⚠ ${before.objection}`] : []), ...before.lines].map(shown),
    undo: shown(before.undo),
    risk: before.objection ? 'high' : riskOf(before.risk),
    runbookId: notes?.runbookId ?? null,
    verify: plainOf(verify as unknown as Json) as unknown as VerifyPlan,
    objects,
    purpose: aim.purpose,
  };
  const rules = deps.rules ?? withoutPolicy({ approvers: [], approvalMinutes: deps.approvalMinutes });
  const asked = await rules.demands(plan);
  if ('ok' in asked) return asked;
  // What speaks against it is for two people to weigh.
  const demands = before.objection
    ? { ...asked, approvals: Math.max(2, asked.approvals), autonomy: null }
    : asked;
  // What a person asks for again stands there to be decided, or it is not asked for.
  if (again && stopped) return stopped;

  const stored = await sql.begin(async (tx): Promise<ActionId | Refusal | null> => {
    // No denial comes between what the card shows of them and the card.
    await lockSystem(tx, { target, identity: system });
    // Two calls of one message at once: the second has to see what the first proposed.
    await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`propose ${credential.incidentId}`}, 0))`;
    const [pending] = await tx`
      SELECT id, tool, input, guard, target, command, round, audit_only, undoes FROM action
       WHERE incident_id = ${credential.incidentId} AND state IN ('proposed', 'approved', 'started')`;
    // Asked again after a crash: the card that is there stands, with the words it was first proposed with.
    if (pending && pending['audit_only'] === auditOnly && doesTheSame(pending))
      return asActionId(String(pending['id']));
    const about = { ...plan, incidentId: credential.incidentId, identity: system, denialsAcknowledged: [] };
    // What a person takes back themselves is no answer to a No.
    const standing = undo ? [] : await denialsOf(tx, about);
    const denied = again || undo ? undefined : await deniedThisRound(tx, about, standing);
    if (denied) return denied;
    const denialsAcknowledged = standing.map(({ id: denial }) => denial);
    const hash = planHash({ ...plan, denialsAcknowledged });
    const [incident] = await tx`SELECT round FROM incident WHERE id = ${credential.incidentId}`;
    if (pending && !(await replaced(tx, pending, Number(incident?.['round'] ?? 1)))) return null;
    await tx`
      INSERT INTO action (id, incident_id, round, state, tool, target, input, command, plan_hash, guard,
                          system_identifier, timeline_id, why, blast_radius, preflight, undo, risk, runbook_id, verify,
                          audit_only, held_by, approvals_needed, policy_rule, undoes, requested_by, purpose, identity, objects,
                          object_keys, denials_acknowledged, autonomous_at, expires_at)
      VALUES (${id}, ${credential.incidentId}, ${incident?.['round'] ?? 1}, 'proposed', ${tool.name}, ${target},
              ${tx.json(input)}, ${command}, ${hash}, ${tx.json(guard)}, ${identity.systemIdentifier},
              ${identity.timelineId}, ${plan.why}, ${plan.blastRadius}, ${tx.array(plan.preflight)}::text[], ${plan.undo},
              ${plan.risk}, ${plan.runbookId}, ${tx.json(plan.verify)}, ${auditOnly}, ${heldBy},
              ${demands.approvals}, ${demands.rule}, ${undo?.actionId ?? null}, ${undo?.by ?? null}, ${aim.purpose},
              ${system}, ${tx.json(objects)}, ${tx.array([...objectKeys(objects), ...applicationKeys(objects)])}::text[],
              ${tx.array(denialsAcknowledged)}::text[],
              clock_timestamp() + ${standing.length > 0 ? null : await vetoMinutes(tx, demands)}::int * interval '1 minute',
              clock_timestamp() + ${demands.expiresMinutes} * interval '1 minute')`;
    await records.append(tx, credential.incidentId, { type: 'action.proposed', actionId: id });
    await again?.stored(tx, id, demands.expiresMinutes);
    if (reading)
      await storeReading(tx, { incidentId: credential.incidentId, actionId: id }, 'proposal', reading);
    // No phase waits for an undo: its own turn comes to expire it.
    if (undo)
      await tx`SELECT sentry_enqueue_turn(${credential.incidentId}, 'undo', ${demands.expiresMinutes * 60_000 + 500}::bigint)`;
    if (stopped)
      // The intent in full: what would have been asked for, and what kept it from being.
      await deps.audit.appendIn(tx, {
        kind: 'gate.would_propose',
        actor: credential.role,
        incidentId: credential.incidentId,
        details: {
          action: id,
          tool: tool.name,
          target,
          input,
          command,
          planHash: hash,
          why: plan.why,
          blastRadius: plan.blastRadius,
          undo: plan.undo,
          risk: plan.risk,
          kept: stopped.code,
        },
      });
    // Too late for the caller is too late for the card: it has been told that nothing was proposed.
    context.signal.throwIfAborted();
    return id;
  });

  /** How long it stands before it runs unasked, when that is earned; its turn is asked for at once. Null: it is asked for. */
  async function vetoMinutes(tx: Tx, demands: Demands): Promise<number | null> {
    const { expiresMinutes } = demands;
    const runsAt = new Date(Date.now() + (demands.autonomy?.vetoMinutes ?? 0) * 60_000);
    const autonomy = unaskedBy(demands, runsAt);
    if (!autonomy || auditOnly || autonomy.vetoMinutes >= expiresMinutes) return null;
    if (!(await mayRunUnasked(tx, { ...plan, id, identity: system }, autonomy))) return null;
    const ms = autonomy.vetoMinutes * 60_000 + 500;
    await tx`SELECT sentry_enqueue_turn(${credential.incidentId}, 'unasked', ${ms}::bigint)`;
    return autonomy.vetoMinutes;
  }

  function doesTheSame(pending: Record<string, unknown>): boolean {
    const then = {
      tool: pending['tool'],
      target: pending['target'],
      input: pending['input'],
      guard: pending['guard'],
    };
    return (
      // What a person takes back is no plan of the incident's, and a plan no answer to who takes something back.
      pending['undoes'] === (undo?.actionId ?? null) &&
      pending['command'] === command &&
      canonicalJson(then as Json) === canonicalJson({ tool: tool.name, target, input, guard })
    );
  }

  function shown(text: string): string {
    return screened.line(text.replace(NOT_DRAWN, ''));
  }

  /**
   * Takes back what nobody will decide any more: the same command, proposed by a turn that died before the state moved,
   * or a proposal of an earlier round (in AUDIT mode none is ever decided).
   */
  async function replaced(tx: Tx, pending: Record<string, unknown>, round: number): Promise<boolean> {
    const same = pending['target'] === target && pending['command'] === command;
    const forShow = pending['audit_only'] === true;
    if (!same && !forShow && Number(pending['round']) === round) return false;
    const reason = same
      ? 'The state has moved since this was proposed.'
      : 'It has been looked at again since.';
    const rows = await tx`
      UPDATE action SET state = 'void', outcome = ${reason}, finished_at = clock_timestamp()
       WHERE id = ${String(pending['id'])} AND state = 'proposed' RETURNING id`;
    const actionId = asActionId(String(pending['id']));
    if (rows.length > 0)
      await records.append(
        tx,
        credential.incidentId,
        { type: 'action.void', actionId, reason },
        `void:${actionId}`,
      );
    return rows.length > 0;
  }

  if (stored === null)
    return refuse(
      'ALREADY_PROPOSED',
      'Another action of this incident is waiting for its decision; one at a time.',
    );
  if (typeof stored !== 'string') return stored;
  return {
    ok: true,
    actionId: stored,
    text: `Proposed as ${stored}: ${command}\nIt waits for a person's approval; it has not run.`,
  };
}

const PLACEHOLDER = /\[(?:redacted:[\w.-]+(?:#\d+)?|withheld\b)/;

/** What is not drawn, and what turns the reading direction, may not stand on a card either. */
const NOT_DRAWN = /(?!\t|\n|\ufe0f)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** As the database gives it back, or no hash of it would ever be met again. */
function plainOf(value: Json): Json {
  const plain = plainJson(value);
  if (plain.ok) return plain.value;
  throw new OpsError(plain.code, `What was seen, or how to check it, cannot be kept: ${plain.reason}`, {
    hint: 'This is a mistake in the tool.',
  });
}

/** An object as it stands on a card. */
function shownObject(
  { application, ...object }: TouchedObject,
  shown: (text: string) => string,
): TouchedObject {
  return {
    ...object,
    label: shown(object.label),
    ...(application ? { application: { ...application, label: shown(application.label) } } : {}),
  };
}

/** What a tool calls neither low nor medium is high. */
export function riskOf(risk: Risk): Risk {
  return risk === 'low' || risk === 'medium' ? risk : 'high';
}

/** Whether an error of a preflight means that what the action is about is gone. */
export function isGone(error: unknown): boolean {
  return error instanceof OpsError && (error.code === 'GONE' || error.code === 'POSTGRES_VICTIM');
}
