import { randomBytes } from 'node:crypto';
import { MAX_STEPS } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import { applicationKeys, type Denial, objectKeys } from '../../core/denial.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import { type ActionId, asActionId } from '../../core/ids.ts';
import { newId } from '../../core/new-id.ts';
import type { Tx } from '../../core/sql.ts';
import type { Json, ProposalNotes } from '../../core/tool-call.ts';
import { switchScopes } from '../../safety/kill-switch/kill-switch.ts';
import type { Credential } from '../../safety/vault/credentials.ts';
import { denialsOf, deniedThisRound, lockSystem } from '../approvals/denials.ts';
import type { GateDeps } from '../gate-deps.ts';
import { mayRunUnasked, unaskedBy } from '../policy/autonomy.ts';
import { withoutPolicy } from '../policy/policy-rules.ts';
import { strictest } from '../policy/strictest.ts';
import { alertChecksOf } from '../recovery/alert-checks.ts';
import type { Screened } from '../screened.ts';
import { type Aim, aimOf, type ReadsCriterion, readRed, storeReading } from './aim.ts';
import {
  type Called,
  type Drafted,
  draftStep,
  hiddenIn,
  hides,
  secretInPlan,
  triedAlready,
} from './draft-step.ts';
import { planHash } from './plan-hash.ts';
import { clashIn, ofStep, pointOfNoReturn } from './plan-of-steps.ts';

/** Whose click asked for it, and which action it takes back; `andThen`: what the later steps take back. */
export interface UndoOrder {
  readonly actionId: ActionId;
  readonly by: string;
  readonly andThen?: readonly ActionId[];
}

/** A person has it asked for again: it is not kept back for a No of this round, which is on its card, and never runs unasked. */
export interface AgainOrder {
  /** Whose proposal it is; left out for one that stays Sentry's. */
  readonly by?: string;
  /** In the transaction that stores the proposal, which is rolled back when this throws. */
  stored(tx: Tx, actionId: ActionId, expiresMinutes: number): Promise<void>;
}

/** Why something is proposed otherwise than by an incident's own planning. Never from a model. */
export interface ProposalOrder {
  /** It takes this action back, at a person's word (see undo.ts). */
  readonly undo?: UndoOrder;
  /** A person has it asked for again (see investigation/after-all.ts). */
  readonly again?: AgainOrder;
  /** It is to keep what is fixed from coming back (see investigation/phases/lasting-fix.ts). */
  readonly lasting?: true;
}

/**
 * Station 9 for a call nobody has approved: reads the state, and writes the plan as it would run. Nothing is changed.
 * One undecided plan an incident, and beside it one lasting fix: asked again after a crash, the same plan is answered with the one already there.
 */
export async function propose(
  deps: GateDeps & { readonly screened: Screened; readonly criterion: ReadsCriterion },
  credential: Credential,
  calls: readonly [Called, ...Called[]],
  notes: ProposalNotes | undefined,
  { undo, again, lasting }: ProposalOrder = {},
): Promise<{ readonly ok: true; readonly actionId: ActionId; readonly text: string } | Refusal> {
  const { sql, records } = deps;
  const { incidentId } = credential;
  const { context } = calls[0];
  const target = context.target.name;
  const of = calls.length;
  const step = (at: number, refusal: Refusal): Refusal =>
    ofStep(at, of, calls[at]?.tool.command(calls[at].input) ?? '', refusal);
  if (of > MAX_STEPS)
    return refuse('TOO_MANY_STEPS', `A plan has at most ${MAX_STEPS} steps, and this one has ${of}.`);
  for (const [at, call] of calls.entries()) {
    const hidden = hiddenIn(deps, call);
    if (hidden) return ofStep(at, of, call.tool.name, hidden);
  }

  const identity = await deps.identity(target);
  const system = identity.systemIdentifier;
  const aims: Aim[] = [];
  for (const [at, call] of calls.entries()) {
    // A person may take back what has been taken back and done again.
    const tried = undo ? undefined : await triedAlready(deps, incidentId, call, system);
    if (tried) return step(at, tried);
    const purpose = undo ? 'undo' : lasting ? 'prevent' : 'repair';
    const aim = await aimOf(sql, credential, call.tool, call.input, notes, purpose);
    if ('ok' in aim) return step(at, aim);
    aims.push(aim);
  }
  // All steps are for one purpose, and one criterion judges what they did together.
  const [aim] = aims;
  if (!aim) throw new Error('a plan without a step');
  if (hides(deps, aim.criterion as unknown as Json)) return secretInPlan;
  const things = calls.flatMap(({ tool, input }) => tool.shownBy?.(input) ?? []);
  const checks = aim.criterion && (await alertChecksOf(deps, incidentId, notes));
  const ground =
    aim.criterion && (await readRed(deps, credential, context, aim.criterion, things, checks ?? []));
  if (ground && 'ok' in ground) return ground;
  const judged: Aim = { ...aim, criterion: ground?.criterion ?? null };

  const rules = deps.rules ?? withoutPolicy({ approvers: [], approvalMinutes: deps.approvalMinutes });
  const drafts: Drafted[] = [];
  for (const [at, call] of calls.entries()) {
    const options = { runbookId: notes?.runbookId ?? null, system, rules };
    const draft = await draftStep(deps, call, judged, options);
    if ('ok' in draft) return step(at, draft);
    drafts.push(draft);
  }
  const clash = clashIn(drafts);
  if (clash) return clash;
  const isSo = lasting && (await isSoAlready(drafts));
  if (isSo) return isSo;
  const noReturn = pointOfNoReturn(calls);
  const id = asActionId(newId('act', randomBytes));
  const steps = drafts.map(({ plan }, at) => ({
    ...plan,
    id: at === 0 ? id : asActionId(newId('act', randomBytes)),
    planId: id,
    undoes: undo ? ([undo.actionId, ...(undo.andThen ?? [])][at] ?? null) : null,
    ...(at === 0 && noReturn ? { undo: `${plan.undo}\n${noReturn}` } : {}),
  }));
  const [head] = steps;
  if (!head) throw new Error('a plan without a step');

  const stopped = await deps.killSwitch.stopped(switchScopes(target, context.target.domain));
  const auditOnly = stopped !== undefined;
  // The mode is the operator's lasting word; a switch is taken back, and then this is looked at again.
  const heldBy = stopped?.code === 'STOPPED' ? stopped.reason : null;
  const isObjectedTo = drafts.some((draft) => draft.isObjectedTo);
  const asked = strictest(drafts.map(({ demands }) => demands));
  // What speaks against it is for two people to weigh.
  const demands = isObjectedTo ? { ...asked, approvals: Math.max(2, asked.approvals) } : asked;
  // What a person asks for again stands there to be decided, or it is not asked for.
  if (again && stopped) return stopped;

  const stored = await sql.begin(async (tx): Promise<ActionId | Refusal | null> => {
    // No denial comes between what the card shows of them and the card.
    await lockSystem(tx, { target, identity: system });
    // Two calls of one message at once: the second has to see what the first proposed.
    await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`propose ${incidentId}`}, 0))`;
    const [pending] = await tx`
      SELECT id, command, target, round, audit_only FROM action
       WHERE incident_id = ${incidentId} AND state IN ('proposed', 'approved', 'started')
         AND (beside AND undoes IS NULL) = ${lasting === true}`;
    // Asked again after a crash: the card that is there stands, with the words it was first proposed with.
    if (pending && pending['audit_only'] === auditOnly && (await doesTheSame(tx, pending)))
      return asActionId(String(pending['id']));
    // Whoever said No to touching it may take back what was done to it.
    const standing = (await deniedOf(tx)).filter(({ saidBy }) => saidBy !== undo?.by);
    const about = { incidentId };
    const denied = again || undo ? undefined : await deniedThisRound(tx, about, standing);
    if (denied) return denied;
    const denialsAcknowledged = standing.map(({ id: denial }) => denial);
    const [first, ...later] = steps.map((each) => ({ ...each, denialsAcknowledged }));
    if (!first) throw new Error('a plan without a step');
    const hash = planHash(first, later);
    const [incident] = await tx`SELECT round FROM incident WHERE id = ${incidentId}`;
    const round = Number(incident?.['round'] ?? 1);
    if (pending && !(await replaced(tx, pending, round))) return null;
    const veto = standing.length > 0 || again ? null : await vetoMinutes(tx);
    for (const [at, each] of steps.entries())
      await tx`
        INSERT INTO action (id, plan_id, step, incident_id, round, state, tool, target, input, command, plan_hash, guard,
                            system_identifier, timeline_id, why, blast_radius, preflight, undo, risk, runbook_id, verify,
                            audit_only, held_by, approvals_needed, policy_rule, undoes, beside, requested_by, purpose, identity, objects,
                            object_keys, denials_acknowledged, autonomous_at, expires_at)
        VALUES (${each.id}, ${id}, ${at + 1}, ${incidentId}, ${round}, ${at === 0 ? 'proposed' : 'queued'}, ${each.tool}, ${target},
                ${tx.json(each.input)}, ${each.command}, ${hash}, ${tx.json(each.guard)}, ${identity.systemIdentifier},
                ${identity.timelineId}, ${each.why}, ${each.blastRadius}, ${tx.array(each.preflight)}::text[], ${each.undo},
                ${each.risk}, ${each.runbookId}, ${tx.json(each.verify)}, ${auditOnly}, ${at === 0 ? heldBy : null},
                ${demands.approvals}, ${demands.rule}, ${each.undoes}, ${undo !== undefined || lasting === true},
                ${undo?.by ?? again?.by ?? null}, ${aim.purpose},
                ${system}, ${tx.json(each.objects)},
                ${tx.array([...objectKeys(each.objects), ...applicationKeys(each.objects)])}::text[],
                ${tx.array(denialsAcknowledged)}::text[],
                clock_timestamp() + ${at === 0 ? veto : null}::int * interval '1 minute',
                clock_timestamp() + ${demands.expiresMinutes} * interval '1 minute')`;
    await records.append(tx, incidentId, { type: 'action.proposed', actionId: id });
    await again?.stored(tx, id, demands.expiresMinutes);
    if (ground) await storeReading(tx, { incidentId, actionId: id }, 'proposal', ground.reading);
    // No phase waits for what runs beside: its own turn comes to expire it.
    if (undo || lasting)
      await tx`SELECT sentry_enqueue_turn(${incidentId}, 'undo', ${demands.expiresMinutes * 60_000 + 500}::bigint)`;
    if (stopped)
      // The intent in full: what would have been asked for, and what kept it from being.
      await deps.audit.appendIn(tx, {
        kind: 'gate.would_propose',
        actor: credential.role,
        incidentId,
        details: {
          action: id,
          tool: head.tool,
          target,
          input: head.input,
          command: head.command,
          planHash: hash,
          why: head.why,
          blastRadius: head.blastRadius,
          undo: head.undo,
          risk: head.risk,
          kept: stopped.code,
          ...(of > 1
            ? { andThen: steps.slice(1).map(({ tool, input, command }) => ({ tool, input, command })) }
            : {}),
        },
      });
    // Too late for the caller is too late for the card: it has been told that nothing was proposed.
    context.signal.throwIfAborted();
    return id;
  });

  /** The denials that stand on any step, each once. */
  async function deniedOf(tx: Tx): Promise<readonly Denial[]> {
    const found = new Map<string, Denial>();
    for (const each of steps) {
      const about = { ...each, incidentId, identity: system, denialsAcknowledged: [] };
      for (const denial of await denialsOf(tx, about)) found.set(denial.id, denial);
    }
    return [...found.values()];
  }

  /**
   * How long it stands before it runs unasked, when every step has earned that; its turn is asked for at once. Null: it is
   * asked for.
   */
  async function vetoMinutes(tx: Tx): Promise<number | null> {
    // A tool that a rule lets run so often is not run oftener by being planned twice.
    const isOnceEach = new Set(steps.map(({ tool }) => tool)).size === of;
    // Only what repairs have helped has earned anything.
    if (auditOnly || isObjectedTo || !isOnceEach || lasting) return null;
    const longest = Math.max(...drafts.map((draft) => draft.demands.autonomy?.vetoMinutes ?? 0));
    const runsAt = new Date(Date.now() + longest * 60_000);
    if (longest >= demands.expiresMinutes) return null;
    for (const [at, draft] of drafts.entries()) {
      const autonomy = unaskedBy(draft.demands, runsAt);
      const each = steps[at];
      if (!autonomy || !each || !(await mayRunUnasked(tx, { ...each, identity: system }, autonomy)))
        return null;
    }
    await tx`SELECT sentry_enqueue_turn(${incidentId}, 'unasked', ${longest * 60_000 + 500}::bigint)`;
    return longest;
  }

  /** Somebody has seen to it already: nothing is asked for. Undefined: there is something left to do, or it cannot be told. */
  async function isSoAlready(planned: readonly Drafted[]): Promise<Refusal | undefined> {
    const lines: string[] = [];
    for (const { plan } of planned) {
      const reading = await deps.criterion({
        incidentId,
        target,
        plan: plan.verify,
        purpose: 'Is it so already?',
        signal: context.signal,
      });
      if (reading.holds !== true) return undefined;
      lines.push(...reading.lines);
    }
    return refuse('DONE_ALREADY', `It is so already: ${lines.join('; ')}`);
  }

  async function doesTheSame(tx: Tx, pending: Record<string, unknown>): Promise<boolean> {
    const rows = await tx`
      SELECT tool, target, input, guard, command, undoes FROM action
       WHERE plan_id = (SELECT plan_id FROM action WHERE id = ${String(pending['id'])}) ORDER BY step`;
    const same = ({ tool, input, guard, command, undoes }: Record<string, unknown>): Json =>
      // What a person takes back is no plan of the incident's, and a plan no answer to who takes something back.
      ({ tool, target, input, guard, command, undoes }) as Json;
    return canonicalJson(rows.map(same)) === canonicalJson(steps.map(same));
  }

  /**
   * Takes back what nobody will decide any more: the same command, proposed by a turn that died before the state moved,
   * or a proposal of an earlier round (in AUDIT mode none is ever decided).
   */
  async function replaced(tx: Tx, pending: Record<string, unknown>, round: number): Promise<boolean> {
    const same = pending['target'] === target && pending['command'] === head?.command;
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
      await records.append(tx, incidentId, { type: 'action.void', actionId, reason }, `void:${actionId}`);
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
    text: `Proposed as ${stored}: ${steps.map(({ command }) => command).join('; then ')}\nIt waits for a person's approval; it has not run.`,
  };
}
