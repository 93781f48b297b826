import { randomBytes } from 'node:crypto';
import { MAX_STEPS } from '../../core/action.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import { type ActionId, asActionId } from '../../core/ids.ts';
import { newId } from '../../core/new-id.ts';
import type { Json, ProposalNotes } from '../../core/tool-call.ts';
import { switchScopes } from '../../safety/kill-switch/kill-switch.ts';
import type { Credential } from '../../safety/vault/credentials.ts';
import type { TargetIdentity } from '../../targets/kind.ts';
import { failedOver, isServerOf } from '../checks/approval-checks.ts';
import type { GateDeps } from '../gate-deps.ts';
import { withoutPolicy } from '../policy/policy-rules.ts';
import { type PlanDemands, strictest } from '../policy/strictest.ts';
import { mustBeCurrent } from '../reach.ts';
import { alertChecksOf } from '../recovery/alert-checks.ts';
import { bindSystems, strangersIn, systemKey } from '../recovery/same-system.ts';
import type { Screened } from '../screened.ts';
import { type Aim, aimOf, type Ground, type ReadsCriterion, readRed } from './aim.ts';
import {
  type Called,
  type Drafted,
  draftStep,
  hiddenIn,
  hides,
  secretInPlan,
  triedAlready,
} from './draft-step.ts';
import { clashIn, ofStep, pointOfNoReturn } from './plan-of-steps.ts';
import { type ProposalOrder, type StoredPlan, storeProposal } from './store-proposal.ts';
import { withTriedBefore } from './tried-before.ts';

export interface ProposeDeps extends GateDeps {
  readonly screened: Screened;
  readonly criterion: ReadsCriterion;
}

type Calls = readonly [Called, ...Called[]];

/**
 * Check 9 for a call nobody has approved: reads the state, and writes the plan as it would run. Nothing is changed.
 * One undecided plan an incident, and beside it one lasting fix: asked again after a crash, the same plan is answered with the one already there.
 */
export async function propose(
  deps: ProposeDeps,
  credential: Credential,
  calls: Calls,
  notes: ProposalNotes | undefined,
  order: ProposalOrder = {},
): Promise<{ readonly ok: true; readonly actionId: ActionId; readonly text: string } | Refusal> {
  const [{ context }] = calls;
  if (calls.length > MAX_STEPS)
    return refuse(
      'TOO_MANY_STEPS',
      `A plan has at most ${MAX_STEPS} steps, and this one has ${calls.length}.`,
    );
  for (const [at, call] of calls.entries()) {
    const hidden = hiddenIn(deps, call);
    if (hidden) return ofStep(at, calls.length, call.tool.name, hidden);
  }
  const identity = await deps.identity(context.target.name);
  const system = identity.systemIdentifier;
  const { name: target } = context.target;
  const elsewhere = await ranElsewhere(deps, target, identity, order);
  if (elsewhere) return elsewhere;
  const given = await sharedAim(deps, credential, calls, notes, { order, system });
  if ('ok' in given) return given;
  const aim = await boundAim(deps, target, systemKey(identity), given);
  if ('ok' in aim) return aim;
  const ground = await groundOf(deps, credential, calls, notes, aim);
  if (ground && 'ok' in ground) return ground;
  // What was added to it may be about a neighbour that it did not name before.
  const criterion = ground && (await bindSystems(deps.identity, target, ground.criterion));
  const judged: Aim = { ...aim, criterion };
  const drafted = await draftSteps(deps, calls, judged, { runbookId: notes?.runbookId ?? null, identity });
  if ('ok' in drafted) return drafted;
  const isRepair = aim.purpose === 'repair';
  const drafts = isRepair ? await withTriedBefore(deps, credential.incidentId, system, drafted) : drafted;
  const clash = clashIn(drafts);
  if (clash) return clash;
  const isSo = order.lasting && (await isSoAlready(deps, credential, calls, drafts));
  if (isSo) return isSo;
  mustBeCurrent(deps, context.target);
  const stopped = await deps.killSwitch.stopped(switchScopes(context.target.name, context.target.domain));
  // What a person asks for again stands there to be decided, or it is not asked for.
  if (order.again && stopped) return stopped;
  const steps = plannedSteps(calls, drafts, order);
  const stored = await storeProposal(deps, {
    credential,
    target: context.target.name,
    identity,
    purpose: aim.purpose,
    steps,
    drafts,
    demands: demandsOfAll(drafts),
    ground,
    stopped,
    order,
    signal: context.signal,
  });
  if (typeof stored !== 'string') return stored;
  const commands = steps.map(({ command }) => command).join('; then ');
  const text = `Proposed as ${stored}: ${commands}\nIt waits for a person's approval; it has not run.`;
  return { ok: true, actionId: stored, text };
}

/** What takes back or keeps what an action did belongs to the server on which that ran, whatever has its name now. */
async function ranElsewhere(
  { sql }: ProposeDeps,
  target: string,
  now: TargetIdentity,
  { undo, lasting }: ProposalOrder,
): Promise<Refusal | undefined> {
  const after = [...(undo ? [undo.actionId, ...(undo.andThen ?? [])] : []), ...(lasting ? [lasting] : [])];
  for (const id of after)
    if (!(await isServerOf(sql, id, now)))
      return failedOver(target, `on which ${undo ? 'this' : 'the fix'} ran`);
  return undefined;
}

/** A criterion that is judged on this very system. Refused where the diagnosis was about another one of the same name. */
async function boundAim(
  { identity }: ProposeDeps,
  target: string,
  system: string,
  aim: Aim,
): Promise<Aim | Refusal> {
  if (aim.criterion === null) return aim;
  for (const [name, { isOther }] of await strangersIn(identity, target, aim.criterion))
    if (isOther) return failedOver(name, 'that was looked at');
  const systems = { [target]: system, ...aim.criterion.systems };
  return { ...aim, criterion: await bindSystems(identity, target, { ...aim.criterion, systems }) };
}

/** All steps are for one purpose, and one criterion judges what they did together. */
async function sharedAim(
  deps: ProposeDeps,
  credential: Credential,
  calls: Calls,
  notes: ProposalNotes | undefined,
  { order, system }: { readonly order: ProposalOrder; readonly system: string },
): Promise<Aim | Refusal> {
  const purpose = order.undo ? 'undo' : order.lasting || order.again?.prevents ? 'prevent' : 'repair';
  let shared: Aim | undefined;
  for (const [at, call] of calls.entries()) {
    // A person may take back what has been taken back and done again.
    const tried = order.undo ? undefined : await triedAlready(deps, credential.incidentId, call, system);
    if (tried) return refusedStep(calls, at, tried);
    const aim = await aimOf(deps.sql, credential, call.tool, call.input, notes, purpose);
    if ('ok' in aim) return refusedStep(calls, at, aim);
    shared ??= aim;
  }
  if (!shared) throw new Error('a plan without a step');
  const { systems: _, ...shown } = shared.criterion ?? {};
  return hides(deps, shown as unknown as Json) ? secretInPlan : shared;
}

/** Where something is to be repaired, the look that shows that it is broken; null for every other purpose. */
async function groundOf(
  deps: ProposeDeps,
  credential: Credential,
  calls: Calls,
  notes: ProposalNotes | undefined,
  { criterion }: Aim,
): Promise<Ground | Refusal | null> {
  if (criterion === null) return null;
  const things = calls.flatMap(({ tool, input }) => tool.shownBy?.(input) ?? []);
  const checks = await alertChecksOf(deps, credential.incidentId, notes);
  return readRed(deps, credential, calls[0].context, criterion, things, checks);
}

async function draftSteps(
  deps: ProposeDeps,
  calls: Calls,
  aim: Aim,
  { runbookId, identity }: { readonly runbookId: string | null; readonly identity: TargetIdentity },
): Promise<readonly Drafted[] | Refusal> {
  const rules = deps.rules ?? withoutPolicy({ approvers: [], approvalMinutes: deps.approvalMinutes });
  const drafts: Drafted[] = [];
  for (const [at, call] of calls.entries()) {
    const draft = await draftStep(deps, call, aim, { runbookId, identity, rules });
    if ('ok' in draft) return refusedStep(calls, at, draft);
    drafts.push(draft);
  }
  return drafts;
}

const refusedStep = (calls: Calls, at: number, refusal: Refusal): Refusal =>
  ofStep(at, calls.length, calls[at]?.tool.command(calls[at].input) ?? '', refusal);

/** The steps with their ids; the plan is named by the first. */
function plannedSteps(
  calls: Calls,
  drafts: readonly Drafted[],
  { undo }: ProposalOrder,
): StoredPlan['steps'] {
  const planId = asActionId(newId('act', randomBytes));
  const takenBack = undo ? [undo.actionId, ...(undo.andThen ?? [])] : [];
  const noReturn = pointOfNoReturn(calls, drafts);
  return drafts.map(({ plan }, at) => ({
    ...plan,
    id: at === 0 ? planId : asActionId(newId('act', randomBytes)),
    planId,
    undoes: takenBack[at] ?? null,
    ...(at === 0 && noReturn ? { undo: `${plan.undo}\n${noReturn}` } : {}),
  }));
}

/** The strictest step's; what speaks against one of them is for two people to weigh. */
function demandsOfAll(drafts: readonly Drafted[]): PlanDemands {
  const asked = strictest(drafts.map(({ demands }) => demands));
  const isObjectedTo = drafts.some((draft) => draft.isObjectedTo);
  return isObjectedTo ? { ...asked, approvals: Math.max(2, asked.approvals) } : asked;
}

/** Somebody has seen to it already: nothing is asked for. Undefined: there is something left to do, or it cannot be told. */
async function isSoAlready(
  deps: ProposeDeps,
  { incidentId }: Credential,
  [{ context }]: Calls,
  drafts: readonly Drafted[],
): Promise<Refusal | undefined> {
  const { target, signal } = context;
  const lines: string[] = [];
  for (const { plan } of drafts) {
    const reading = await deps.criterion({
      incidentId,
      target: target.name,
      plan: plan.verify,
      purpose: 'Is it so already?',
      signal,
    });
    if (reading.holds !== true) return undefined;
    lines.push(...reading.lines);
  }
  return refuse('DONE_ALREADY', `It is so already: ${lines.join('; ')}`);
}
