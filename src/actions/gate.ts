import { randomBytes } from 'node:crypto';
import type { AlertRule } from '../core/alert-rule.ts';
import { messageOf, OpsError, type Refusal } from '../core/errors.ts';
import { asToolCallId } from '../core/ids.ts';
import type { Measure, Measured } from '../core/measure.ts';
import { newId } from '../core/new-id.ts';
import type { FirstLook, Target } from '../core/target.ts';
import type { ToolCall, ToolCallRequest, ToolCallResult, VerifyPlan, VerifyStep } from '../core/tool-call.ts';
import { recordIdentity } from '../safety/kill-switch/target-identity.ts';
import type { Credential } from '../safety/vault/credentials.ts';
import type { TargetIdentity } from '../targets/kind.ts';
import { type CallOptions, callTool } from './call-tool.ts';
import type { Check } from './checks/check.ts';
import { cleanInput } from './checks/clean-input.ts';
import { knownTool } from './checks/known-tool.ts';
import { liveCredential } from './checks/live-credential.ts';
import { loadedToolset } from './checks/loaded-toolset.ts';
import { mayReadAgain } from './checks/may-read-again.ts';
import { roleAccess } from './checks/role-access.ts';
import { targetInScope } from './checks/target-in-scope.ts';
import { throttled } from './checks/throttled.ts';
import { toolRules } from './checks/tool-rules.ts';
import { onRecord, onSystem } from './faults.ts';
import type { GateDeps } from './gate-deps.ts';
import { execute } from './ledger/execute.ts';
import { type Execution, type ExecutionParts, executionParts } from './ledger/execution.ts';
import { settle } from './ledger/settle.ts';
import {
  type CriterionQuestion,
  type CriterionReading,
  measuresOf,
  type RecordedRead,
  type RedMeasure,
  readCriterion,
  readRecorded,
  redMeasures,
} from './recovery/criterion.ts';
import { bindSystems } from './recovery/same-system.ts';
import { createScreened, type Screened } from './screened.ts';

/** The one way to a tool, for models, the playbook, MCP and approved actions alike. */
export interface Gate extends Execution {
  /**
   * Runs a read tool, or turns an active one into a proposal. Every ending is a value, on record and audited, whatever the
   * tool or the caller does. Throws OpsError NOT_RECORDED only when the record or the audit log cannot be read or written: then
   * nobody may act on the answer, and the call can be made again.
   */
  call(credential: Credential, request: ToolCallRequest, options: CallOptions): Promise<ToolCallResult>;
  /** The physical system behind a target's name, as locks and denials know it; null while that cannot be told. */
  systemOf(target: string): Promise<string | null>;
  /** Whether a call on record only reads, and can be made again in exactly its words. Runs nothing. */
  mayReadAgain(call: Pick<ToolCall, 'tool' | 'target' | 'input'>): Refusal | undefined;
  /** Reads a recovery criterion on the live system, as the validator. */
  readCriterion(question: CriterionQuestion): Promise<CriterionReading>;
  /** A criterion that is judged only on the systems which its targets' names stand for now. */
  bindSystems(target: string, plan: VerifyPlan): Promise<VerifyPlan>;
  /** What a recorded read shows to be wrong, by the measures its tool declares and the alert's own rule. Runs nothing. */
  redMeasures(call: RecordedRead, rule: AlertRule | null): readonly RedMeasure[];
  /** What a recorded read says of a step of a criterion; null: it asked something else, or failed. Runs nothing. */
  readRecorded(
    step: VerifyStep,
    call: Pick<ToolCall, 'tool' | 'input' | 'state' | 'result'>,
  ): Measured | null;
  /** What to look at first on a configured target when no runbook fits. */
  looks(target: string): readonly FirstLook[];
  /** Those of a target that are configured, as they are now. */
  neighbours(target: string): readonly Pick<Target, 'name' | 'kind'>[];
  /** Of a tool: none for one that declares none. */
  measures(tool: string): readonly Measure[];
}

/** Checks 1 to 7, in their order. */
export function preChecksOf(deps: GateDeps): readonly Check[] {
  return [
    knownTool(deps.registry),
    roleAccess,
    liveCredential(deps.vault),
    throttled(deps.throttle, deps.targets),
    targetInScope(deps.targets),
    async (call) => (await cleanInput(call)) ?? toolRules(deps)(call),
    loadedToolset(deps.sql),
  ];
}

/** What the gate is made of, for tests that take a part out and watch what comes through. */
export interface GateParts extends ExecutionParts {
  readonly preChecks: readonly Check[];
}

export function createGate(given: GateDeps, replaced: Partial<GateParts> = {}): Gate {
  const known: GateDeps = { ...given, identity: (target) => identityOf(given, target) };
  const parts: GateParts = { preChecks: preChecksOf(known), ...executionParts, ...replaced };
  const call: Gate['call'] = (credential, request, options) =>
    holding(deps, request.target, () =>
      callTool(deps, asToolCallId(newId('tc', randomBytes)), credential, request, options),
    );
  const criterion = (question: CriterionQuestion): Promise<CriterionReading> =>
    readCriterion({ ...known, call }, question);
  const deps = { ...known, ...parts, screened: createScreened(known), criterion };
  return {
    call,
    systemOf: (target) => systemOf(deps, target),
    mayReadAgain: (recorded) => mayReadAgain(deps.registry, recorded),
    readCriterion: criterion,
    bindSystems: (target, plan) => bindSystems(known.identity, target, plan),
    redMeasures: (recorded, rule) => redMeasures(deps.registry, recorded, rule),
    readRecorded: (step, recorded) => readRecorded(deps.registry, step, recorded),
    looks: (target) => (deps.targets.has(target) ? deps.ports.looks(target) : []),
    neighbours: (target) =>
      (deps.targets.get(target)?.neighbours ?? []).flatMap((name) => deps.targets.get(name) ?? []),
    measures: (tool) => measuresOf(deps.registry, tool),
    execute: (action, hooks, signal) =>
      holding(deps, action.target, () => execute(deps, action, hooks, signal)),
    settle: (action, hooks, signal) =>
      holding(deps, action.target, () => settle(deps, action, hooks, signal)),
  };
}

/** A target that is taken out of the configuration, or changed, keeps its connection until this has ended. */
async function holding<T>({ ports }: GateDeps, target: string | null, work: () => Promise<T>): Promise<T> {
  const release = target === null ? undefined : ports.hold?.(target);
  try {
    return await work();
  } finally {
    release?.();
  }
}

async function systemOf(
  { identity, log, screened }: GateDeps & { readonly screened: Screened },
  target: string,
): Promise<string | null> {
  try {
    return (await identity(target)).systemIdentifier;
  } catch (error) {
    log.warn({ target, error: screened.line(messageOf(error)) }, 'which system it is cannot be told');
    return null;
  }
}

/** Longer than that of any kind; an index takes 2,700 bytes. */
const MAX_IDENTITY = 500;

/** What a system says of itself is its own fault where no record could take it: not the record's. */
function wellFormed(found: TargetIdentity): TargetIdentity {
  const { systemIdentifier: given } = found;
  if (typeof given === 'string' && given !== '' && given.length <= MAX_IDENTITY && !given.includes('\u0000'))
    return found;
  throw new OpsError(
    'NO_IDENTITY',
    'The system does not say which one it is, or not in a way that can be kept.',
    {
      hint: 'Look whether something between here and there changes its answers.',
    },
  );
}

/** Whatever learns which system a name stands for puts it on record: the switch is for the system. */
async function identityOf({ sql, targets, identity }: GateDeps, name: string): Promise<TargetIdentity> {
  const target = targets.get(name);
  const found = await onSystem(async () => wellFormed(await identity(name)));
  // Changed meanwhile: it is another system's.
  if (target && targets.get(name) === target)
    await onRecord(recordIdentity(sql, target, found.systemIdentifier));
  return found;
}
