import type { Purpose } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { Denial } from '../../core/denial.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { ActionId } from '../../core/ids.ts';
import { isEnded } from '../../core/machine.ts';
import type { Tx } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import type { ActionRow, IncidentRow } from '../../record/rows.ts';
import type { Credential } from '../../safety/vault/credentials.ts';
import type { TargetIdentity } from '../../targets/kind.ts';
import { keysEverywhere } from '../approvals/denial-keys.ts';
import { denialsOf, deniedThisRound, lockSystem } from '../approvals/denials.ts';
import type { GateDeps } from '../gate-deps.ts';
import { mayRunUnasked, unaskedBy } from '../policy/autonomy.ts';
import type { PlanDemands } from '../policy/strictest.ts';
import { type Ground, storeReading } from './aim.ts';
import type { Drafted } from './draft-step.ts';
import { planHash } from './plan-hash.ts';

/** Whose click asked for it, and which action it takes back; `andThen`: what the later steps take back. */
export interface UndoOrder {
  readonly actionId: ActionId;
  readonly by: string;
  readonly andThen?: readonly ActionId[];
}

/**
 * Somebody outside of the incident's planning has it asked for: it never runs unasked. A person who asks again is not kept
 * back by a No of this round, which is on its card.
 */
export interface AgainOrder {
  /** Whose proposal it is; left out for one that stays Sentry's. */
  readonly by?: string;
  /** It is nobody's change of mind: a No of this round keeps it back. */
  readonly heedsNo?: true;
  /** It is to repair nothing that is wrong now: that it took effect is all it is judged by. */
  readonly prevents?: true;
  /** It takes the place of this one, which waits for its decision and is void with it. */
  readonly edits?: ActionId;
  /** In the transaction that stores the proposal, which is rolled back when this throws. */
  stored(tx: Tx, actionId: ActionId, expiresMinutes: number): Promise<void>;
}

/** Why something is proposed otherwise than by an incident's own planning. Never from a model. */
export interface ProposalOrder {
  /** It takes this action back, at a person's word (see undo.ts). */
  readonly undo?: UndoOrder;
  /** A person has it asked for again (see incidents/after-all.ts). */
  readonly again?: AgainOrder;
  /** It is to keep what this action has fixed from coming back (see incidents/phases/lasting-fix.ts). */
  readonly lasting?: ActionId;
}

/** A step as it is to stand in the ledger. */
type PlannedStep = Drafted['plan'] & {
  readonly id: ActionId;
  readonly planId: ActionId;
  readonly undoes: ActionId | null;
};

/** A plan with all that was read and judged of it, as it is to be stored. */
export interface StoredPlan {
  readonly credential: Credential;
  readonly target: string;
  readonly identity: TargetIdentity;
  readonly purpose: Purpose;
  readonly steps: readonly PlannedStep[];
  /** The same steps, with what each asks for by itself. */
  readonly drafts: readonly Drafted[];
  /** Of the plan as a whole. */
  readonly demands: PlanDemands;
  readonly ground: Ground | null;
  /** What keeps changes from being made now: the plan is kept for show. */
  readonly stopped: Refusal | undefined;
  readonly order: ProposalOrder;
  readonly signal: AbortSignal;
}

type Deps = Pick<GateDeps, 'sql' | 'records' | 'audit' | 'seal'>;
/** What the incident has waiting for a decision. */
type Pending = Pick<ActionRow, 'id' | 'command' | 'target' | 'round' | 'audit_only'>;

/** One transaction, under the lock of the system: the proposal, its event, and the turn that expires it. Its id, or why there is none. */
export function storeProposal(deps: Deps, plan: StoredPlan): Promise<ActionId | Refusal> {
  return deps.sql.begin((tx) => storeIn(tx, deps, plan));
}

async function storeIn(tx: Tx, deps: Deps, plan: StoredPlan): Promise<ActionId | Refusal> {
  const { credential, target, identity, steps, demands, ground, stopped, order } = plan;
  const { incidentId } = credential;
  const [head] = steps;
  if (!head) throw new Error('a plan without a step');
  // No denial comes between what the card shows of them and the card.
  await lockSystem(tx, { target, identity: identity.systemIdentifier });
  // Two calls of one message at once: the second has to see what the first proposed.
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`propose ${incidentId}`}, 0))`;
  const [pending] = await tx<Pending>`
    SELECT id, command, target, round, audit_only FROM action
     WHERE incident_id = ${incidentId} AND state IN ('proposed', 'approved', 'started')
       AND (beside AND undoes IS NULL) = ${order.lasting !== undefined}`;
  // Asked again after a crash: the card that is there stands, with the words it was first proposed with.
  if (pending && pending.audit_only === (stopped !== undefined) && (await doesTheSame(tx, pending, plan)))
    return pending.id;
  // Whoever said No to touching it may take back what was done to it.
  const standing = (await denialsOnSteps(tx, plan)).filter(({ saidBy }) => saidBy !== order.undo?.by);
  const isPersons = order.undo || (order.again && !order.again.heedsNo);
  const denied = isPersons
    ? undefined
    : await deniedThisRound(tx, { incidentId }, aboutSteps(plan), standing);
  if (denied) return denied;
  const denialsAcknowledged = standing.map(({ id }) => id);
  const [incident] = await tx<Pick<IncidentRow, 'round' | 'state'>>`
    SELECT round, state FROM incident WHERE id = ${incidentId}`;
  if (incident && isEnded(incident.state) && !isBeside(order))
    return refuse('INCIDENT_ENDED', 'The incident is over: nothing is proposed for it any more.');
  const round = incident?.round ?? 1;
  const edits = order.again?.edits;
  if (edits !== undefined && pending?.id !== edits) return notOpen;
  if (pending && !(await isReplaced(tx, deps, pending, plan, round)))
    return edits !== undefined
      ? notOpen
      : refuse(
          'ALREADY_PROPOSED',
          'Another action of this incident is waiting for its decision; one at a time.',
        );
  const veto = standing.length > 0 || order.again ? null : await vetoMinutes(tx, deps, plan);
  const hash = await insertSteps(tx, plan, { denialsAcknowledged, round, veto });
  await deps.records.append(tx, incidentId, { type: 'action.proposed', actionId: head.id });
  await order.again?.stored(tx, head.id, demands.expiresMinutes);
  if (ground) await storeReading(tx, { incidentId, actionId: head.id }, 'proposal', ground.reading);
  // No phase waits for what runs beside: its own turn comes to expire it.
  if (isBeside(order))
    await tx`SELECT sentry_enqueue_turn(${incidentId}, 'undo', ${demands.expiresMinutes * 60_000 + 500}::bigint)`;
  if (stopped) await recordIntent(tx, deps, plan, hash, stopped);
  // Too late for the caller is too late for the card: it has been told that nothing was proposed.
  plan.signal.throwIfAborted();
  return head.id;
}

const notOpen = refuse(
  'ALREADY_DECIDED',
  'It has been decided or withdrawn meanwhile. Nothing was changed; look at its card.',
);

const isBeside = ({ undo, lasting }: ProposalOrder): boolean => undo !== undefined || lasting !== undefined;

/** Returns the plan's hash. */
async function insertSteps(
  tx: Tx,
  { credential: { incidentId }, target, identity, purpose, steps, demands, stopped, order }: StoredPlan,
  now: {
    readonly denialsAcknowledged: readonly string[];
    readonly round: number;
    readonly veto: number | null;
  },
): Promise<string> {
  const { denialsAcknowledged, round, veto } = now;
  const [head, ...later] = steps.map((step) => ({ ...step, denialsAcknowledged }));
  if (!head) throw new Error('a plan without a step');
  const hash = planHash(head, later);
  // The mode is the operator's lasting word; a switch is taken back, and then this is looked at again.
  const heldBy = stopped?.code === 'STOPPED' ? stopped.reason : null;
  for (const [at, each] of steps.entries())
    await tx`
      INSERT INTO action (id, plan_id, step, incident_id, round, state, tool, target, input, command, plan_hash, guard,
                          system_identifier, timeline_id, why, blast_radius, preflight, undo, risk, runbook_id, autonomy_key, verify,
                          audit_only, held_by, approvals_needed, policy_rule, undoes, beside, requested_by, purpose, identity, objects,
                          verbs, object_keys, denials_acknowledged, autonomous_at, expires_at)
      VALUES (${each.id}, ${head.id}, ${at + 1}, ${incidentId}, ${round}, ${at === 0 ? 'proposed' : 'queued'}, ${each.tool}, ${target},
              ${tx.json(each.input)}, ${each.command}, ${hash}, ${tx.json(each.guard)}, ${identity.systemIdentifier},
              ${identity.timelineId}, ${each.why}, ${each.blastRadius}, ${tx.array(each.preflight)}::text[], ${each.undo},
              ${each.risk}, ${each.runbookId}, ${each.autonomyKey}, ${tx.json(each.verify)}, ${stopped !== undefined}, ${at === 0 ? heldBy : null},
              ${demands.approvals}, ${demands.rule}, ${each.undoes}, ${isBeside(order)},
              ${order.undo?.by ?? order.again?.by ?? null}, ${purpose},
              ${identity.systemIdentifier}, ${tx.json(each.objects)}, ${tx.json({ ...each.verbs })},
              ${tx.array([...keysEverywhere({ ...each, identity: identity.systemIdentifier })])}::text[],
              ${tx.array(denialsAcknowledged)}::text[],
              clock_timestamp() + ${at === 0 ? veto : null}::int * interval '1 minute',
              clock_timestamp() + ${demands.expiresMinutes} * interval '1 minute')`;
  return hash;
}

/** The intent in full: what would have been asked for, and what kept it from being. */
async function recordIntent(
  tx: Tx,
  { audit }: Deps,
  { credential, target, steps }: StoredPlan,
  planHashed: string,
  stopped: Refusal,
): Promise<void> {
  const [head, ...later] = steps;
  if (!head) return;
  await audit.appendIn(tx, {
    kind: 'gate.would_propose',
    actor: credential.role,
    incidentId: credential.incidentId,
    details: {
      action: head.id,
      tool: head.tool,
      target,
      input: head.input,
      command: head.command,
      planHash: planHashed,
      why: head.why,
      blastRadius: head.blastRadius,
      undo: head.undo,
      risk: head.risk,
      kept: stopped.code,
      ...(later.length > 0
        ? { andThen: later.map(({ tool, input, command }) => ({ tool, input, command })) }
        : {}),
    },
  });
}

/** The denials that stand on any step, each once. */
async function denialsOnSteps(tx: Tx, plan: StoredPlan): Promise<readonly Denial[]> {
  const found = new Map<string, Denial>();
  for (const step of aboutSteps(plan))
    for (const denial of await denialsOf(tx, step)) found.set(denial.id, denial);
  return [...found.values()];
}

/** What of the steps says which denials cover them. */
const aboutSteps = ({ credential: { incidentId }, identity, steps }: StoredPlan) =>
  steps.map((step) => ({
    ...step,
    incidentId,
    identity: identity.systemIdentifier,
    denialsAcknowledged: [],
  }));

/**
 * How long it stands before it runs unasked, when every step has earned that; its turn is asked for at once. Null: it is
 * asked for.
 */
async function vetoMinutes(tx: Tx, { seal }: Deps, plan: StoredPlan): Promise<number | null> {
  const { credential, identity, steps, drafts, demands, stopped, order } = plan;
  // A tool that a rule lets run so often is not run oftener by being planned twice.
  const isOnceEach = new Set(steps.map(({ tool }) => tool)).size === steps.length;
  const isObjectedTo = drafts.some((draft) => draft.isObjectedTo);
  // Only what repairs have helped has earned anything.
  if (stopped || isObjectedTo || !isOnceEach || order.lasting) return null;
  const longest = Math.max(...drafts.map((draft) => draft.demands.autonomy?.vetoMinutes ?? 0));
  const runsAt = new Date(Date.now() + longest * 60_000);
  if (longest >= demands.expiresMinutes) return null;
  for (const [at, draft] of drafts.entries()) {
    const autonomy = unaskedBy(draft.demands, runsAt);
    const step = steps[at];
    const earned =
      autonomy &&
      step &&
      (await mayRunUnasked({ tx, seal }, { ...step, identity: identity.systemIdentifier }, autonomy));
    if (!earned) return null;
  }
  await tx`SELECT sentry_enqueue_turn(${credential.incidentId}, 'unasked', ${longest * 60_000 + 500}::bigint)`;
  return longest;
}

async function doesTheSame(tx: Tx, pending: Pending, { target, steps }: StoredPlan): Promise<boolean> {
  const rows = await tx<Pick<ActionRow, 'tool' | 'input' | 'guard' | 'command' | 'undoes'>>`
    SELECT tool, input, guard, command, undoes FROM action
     WHERE plan_id = (SELECT plan_id FROM action WHERE id = ${pending.id}) ORDER BY step`;
  // What a person takes back is no plan of the incident's, and a plan no answer to who takes something back.
  const same = ({ tool, input, guard, command, undoes }: Record<string, unknown>): Json =>
    ({ tool, target, input, guard, command, undoes }) as Json;
  return canonicalJson(rows.map(same)) === canonicalJson(steps.map(same));
}

/**
 * Takes back what nobody will decide any more: the same command, proposed by a turn that died before the state moved,
 * or a proposal of an earlier round (in AUDIT mode none is ever decided). False: it stands.
 */
async function isReplaced(
  tx: Tx,
  { records }: Deps,
  pending: Pending,
  { credential: { incidentId }, target, steps: [head], order }: StoredPlan,
  round: number,
): Promise<boolean> {
  const same = pending.target === target && pending.command === head?.command;
  const isEdit = order.again?.edits !== undefined;
  if (!isEdit && !same && !pending.audit_only && pending.round === round) return false;
  const passed = same ? 'The state has moved since this was proposed.' : 'It has been looked at again since.';
  const reason = isEdit ? 'It is asked for with other arguments.' : passed;
  const actionId = pending.id;
  const rows = await tx`
    UPDATE action SET state = 'void', outcome = ${reason}, finished_at = clock_timestamp()
     WHERE id = ${actionId} AND state = 'proposed' RETURNING id`;
  if (rows.length > 0)
    await records.append(tx, incidentId, { type: 'action.void', actionId, reason }, `void:${actionId}`);
  return rows.length > 0;
}
