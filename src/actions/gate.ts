import { randomBytes } from 'node:crypto';
import type { AlertRule } from '../core/alert-rule.ts';
import { messageOf, OpsError, type Refusal, refuse } from '../core/errors.ts';
import { asToolCallId } from '../core/ids.ts';
import type { Measure } from '../core/measure.ts';
import { newId } from '../core/new-id.ts';
import type { Json, ToolCall, ToolCallRequest, ToolCallResult, VerifyStep } from '../core/tool-call.ts';
import { type FinishedCall, storeToolCall } from '../record/evidence.ts';
import { plainJson } from '../safety/inputs/plain-json.ts';
import { recordIdentity } from '../safety/kill-switch/target-identity.ts';
import type { Credential } from '../safety/vault/credentials.ts';
import {
  type ActiveTool,
  type EvidenceTool,
  hasNoTarget,
  type MemoryTool,
  type ReadTool,
} from '../tools/define.ts';
import { cleanInput } from './checks/clean-input.ts';
import { knownTool } from './checks/known-tool.ts';
import { liveCredential } from './checks/live-credential.ts';
import { loadedToolset } from './checks/loaded-toolset.ts';
import { mayReadAgain } from './checks/may-read-again.ts';
import { roleAccess } from './checks/role-access.ts';
import type { Passage, Station } from './checks/station.ts';
import { targetInScope } from './checks/target-in-scope.ts';
import { throttled } from './checks/throttled.ts';
import { toolRules } from './checks/tool-rules.ts';
import type { GateDeps, TargetIdentity } from './gate-deps.ts';
import { createExecution, type Execution, type ExecutionParts, executionParts } from './ledger/execute.ts';
import type { Called } from './proposals/draft-step.ts';
import { ofStep } from './proposals/plan-of-steps.ts';
import { type ProposalOrder, propose } from './proposals/propose.ts';
import {
  type CriterionQuestion,
  type CriterionReading,
  judgeRecorded,
  measuresOf,
  type RecordedRead,
  type RedMeasure,
  readCriterion,
  redMeasures,
} from './recovery/criterion.ts';
import { createScreened } from './screened.ts';
import { withTimeout } from './with-timeout.ts';

/** The one way to a tool, for models, the playbook, MCP and approved actions alike. */
export interface Gate extends Execution {
  /**
   * Runs a read tool, or turns an active one into a proposal. Every ending is a value, on record and audited, whatever the
   * tool or the caller does. Throws OpsError NOT_RECORDED only when the record or the audit log cannot be written: then
   * nobody may act on the answer, and the call can be made again.
   */
  call(credential: Credential, request: ToolCallRequest, options: CallOptions): Promise<ToolCallResult>;
  /** The physical system behind a target's name, as locks and denials know it; null while that cannot be told. */
  systemOf(target: string): Promise<string | null>;
  /** Whether a call on record only reads, and can be made again in exactly its words. Runs nothing. */
  mayReadAgain(call: Pick<ToolCall, 'tool' | 'target' | 'input'>): Refusal | undefined;
  /** Reads a recovery criterion on the live system, as the validator. */
  readCriterion(question: CriterionQuestion): Promise<CriterionReading>;
  /** What a recorded read shows to be wrong, by the measures its tool declares and the alert's own rule. Runs nothing. */
  redMeasures(call: RecordedRead, rule: AlertRule | null): readonly RedMeasure[];
  /** What a recorded read says of a step of a criterion; null: it asked something else, or does not tell. Runs nothing. */
  judgeRecorded(
    step: VerifyStep,
    call: Pick<ToolCall, 'tool' | 'input' | 'state' | 'result'>,
  ): boolean | null;
  /** Of a tool: none for one that declares none. */
  measures(tool: string): readonly Measure[];
}

export interface CallOptions extends ProposalOrder {
  /** For the thread: why it is called, in a few words. */
  readonly purpose?: string | undefined;
  /** It is put on record as asked for, once it is known that it might run, and not run: in words, why. */
  readonly notRun?: string | undefined;
  readonly signal: AbortSignal;
}

/** Stations 1 to 7, in their order. */
export function entranceStations(deps: GateDeps): readonly Station[] {
  return [
    knownTool(deps.registry),
    roleAccess,
    liveCredential(deps.vault),
    throttled(deps.throttle),
    targetInScope(deps.targets),
    async (passage) => (await cleanInput(passage)) ?? toolRules(deps.ports)(passage),
    loadedToolset(deps.sql),
  ];
}

/** What the gate is made of, for tests that take a part out and watch what comes through. */
export interface GateParts extends ExecutionParts {
  readonly stations: readonly Station[];
}

type Ending = Pick<FinishedCall, 'state' | 'output' | 'result' | 'truncated' | 'code' | 'actionId'>;

export function createGate(given: GateDeps, replaced: Partial<GateParts> = {}): Gate {
  const deps: GateDeps = { ...given, identity: (target) => identityOf(given, target) };
  const parts: GateParts = { stations: entranceStations(deps), ...executionParts, ...replaced };
  const screened = createScreened(deps);
  const criterion = (question: CriterionQuestion): Promise<CriterionReading> =>
    readCriterion({ vault: deps.vault, registry: deps.registry, call }, question);

  async function call(
    credential: Credential,
    asked: ToolCallRequest,
    options: CallOptions,
  ): Promise<ToolCallResult> {
    const id = asToolCallId(newId('tc', randomBytes));
    const startedAt = new Date();
    const { request, refusal } = taken(asked);
    const passage: Passage = { credential, request, ended: [] };
    try {
      const [ending, result] = refusal
        ? refusedEnding(refusal)
        : await through(passage).catch((error: unknown) => failedEnding(error));
      await record(ending);
      return result;
    } finally {
      for (const end of passage.ended) end();
    }

    /** All stations and the tool. Refusals are endings, faults are thrown. */
    async function through(on: Passage): Promise<readonly [Ending, ToolCallResult]> {
      for (const station of parts.stations) {
        const no = await station(on);
        if (no) return refusedEnding(no);
      }
      const { tool, target, input } = on;
      if (options.notRun !== undefined) return refusedEnding(refuse('NOT_RUN', options.notRun));
      if (!tool || !(target || hasNoTarget(tool))) throw noTarget();
      await deps.audit.append({
        kind: 'gate.intent',
        actor: credential.role,
        incidentId: credential.incidentId,
        details: {
          toolCall: id,
          tool: tool.name,
          target: target?.name ?? null,
          input: screened.input(input ?? null),
        },
      });
      if (hasNoTarget(tool)) return withoutTarget(tool, input ?? null);
      if (!target) throw noTarget();
      if (tool.kind === 'active') {
        const later = await stepsAfter(on);
        if ('ok' in later) return refusedEnding(later);
        const passed = [on, ...later];
        const timeoutMs = passed.reduce((sum, each) => sum + (each.tool?.timeoutMs ?? 0), 0);
        const proposed = await withTimeout(timeoutMs, options.signal, (signal) => {
          const called = (each: Passage, why: string): Called => {
            const active = each.tool as ActiveTool<unknown, Json>;
            const own = { target, ports: deps.ports, timeoutMs: active.timeoutMs, signal };
            return { tool: active, context: own, input: each.input ?? null, why };
          };
          const { proposal } = request;
          return propose(
            { ...deps, screened, criterion },
            credential,
            [
              called(on, proposal?.why ?? ''),
              ...later.map((each, at) => called(each, proposal?.andThen?.[at]?.why ?? '')),
            ],
            proposal,
            options,
          );
        });
        if (!proposed.ok) return refusedEnding(proposed);
        const { actionId, text } = proposed;
        return [
          { state: 'proposed', output: text, result: null, truncated: false, code: null, actionId },
          { kind: 'proposed', toolCallId: id, actionId, text },
        ];
      }
      const context = { target, ports: deps.ports, timeoutMs: tool.timeoutMs };
      const raw = await withTimeout(tool.timeoutMs, options.signal, (signal) =>
        (tool as ReadTool).run({ ...context, signal }, input),
      );
      const { text, data, truncated } = screened.output(raw);
      return [
        { state: 'ok', output: text, result: data, truncated, code: null, actionId: null },
        { kind: 'ok', toolCallId: id, text, data, truncated },
      ];
    }

    /** The later steps of a plan pass the same stations, each by itself and on the target of the first. */
    async function stepsAfter(on: Passage): Promise<readonly Passage[] | Refusal> {
      const andThen = on.request.proposal?.andThen ?? [];
      const passages: Passage[] = [];
      for (const [at, step] of andThen.entries()) {
        const no = (refusal: Refusal) => ofStep(at + 1, andThen.length + 1, step.tool, refusal);
        const passage: Passage = {
          credential,
          request: { tool: step.tool, target: on.request.target, input: step.input },
          ended: on.ended,
        };
        for (const station of parts.stations) {
          const refusal = await station(passage);
          if (refusal) return no(refusal);
        }
        if (passage.tool?.kind !== 'active') return no(refuse('NOT_ACTIVE', 'It changes nothing.'));
        passages.push(passage);
      }
      return passages;
    }

    /** These need no approval and no target; the scanner and the policy stand in the way of memory's writes. */
    async function withoutTarget(
      tool: MemoryTool | EvidenceTool,
      input: Json,
    ): Promise<readonly [Ending, ToolCallResult]> {
      const { memory, records: evidence } = deps;
      const { timeoutMs } = tool;
      const { incidentId, role } = credential;
      if (tool.kind !== 'evidence' && !memory)
        return refusedEnding(refuse('MEMORY_OFF', 'Memory documents are not available.'));
      const raw = await withTimeout(timeoutMs, options.signal, async (signal) => {
        if (tool.kind === 'evidence') return tool.run({ incidentId, evidence, signal, timeoutMs }, input);
        if (!memory) throw noTarget();
        return tool.run({ incidentId, role, toolCallId: id, memory, signal, timeoutMs }, input);
      });
      if ('ok' in raw) return refusedEnding(raw);
      const { text, data, truncated } = screened.output(raw);
      return [
        { state: 'ok', output: text, result: data, truncated, code: null, actionId: null },
        { kind: 'ok', toolCallId: id, text, data, truncated },
      ];
    }

    function refusedEnding({ code, reason: said, wait }: Refusal): readonly [Ending, ToolCallResult] {
      const reason = screened.line(said);
      const result = wait ? { until: wait.until, limit: screened.line(wait.limit) } : null;
      return [
        { state: 'refused', output: reason, result, truncated: false, code, actionId: null },
        { kind: 'refused', toolCallId: id, code, reason },
      ];
    }

    function failedEnding(error: unknown): readonly [Ending, ToolCallResult] {
      const code = error instanceof OpsError ? error.code : 'TOOL_FAILED';
      const hint = error instanceof OpsError ? ` ${error.hint}` : '';
      const reason = screened.line(`${messageOf(error)}${hint}`);
      return [
        { state: 'failed', output: reason, result: null, truncated: false, code, actionId: null },
        { kind: 'failed', toolCallId: id, code, reason },
      ];
    }

    /** Memory and the record are no target, whatever the call names: what they say is no read of a live system. */
    function targetOf({ tool, request: { target } }: Passage): string | null {
      return target === null || (tool && hasNoTarget(tool)) ? null : screened.line(target, 100);
    }

    /** Station 12 and the evidence of station 11, whatever the ending. */
    async function record(ending: Ending): Promise<void> {
      // What a made-up credential says of itself is not believed: it leaves a trace in the audit log, none in an incident.
      const ours = deps.vault.isOurs(credential);
      const tool = screened.line(request.tool, 100);
      try {
        if (ours)
          await storeToolCall(deps.sql, deps.records, {
            id,
            incidentId: credential.incidentId,
            role: credential.role,
            tool,
            target: targetOf(passage),
            input: screened.input(passage.input ?? request.input),
            startedAt,
            purpose: options.purpose === undefined ? null : screened.line(options.purpose, 500),
            ...ending,
          });
        await deps.audit.append({
          kind: ending.state === 'refused' ? 'gate.refused' : 'gate.outcome',
          actor: ours ? credential.role : 'unknown',
          ...(ours ? { incidentId: credential.incidentId } : {}),
          details: { toolCall: id, tool, state: ending.state, code: ending.code },
        });
      } catch (error) {
        throw new OpsError('NOT_RECORDED', `The call could not be put on record: ${messageOf(error)}`, {
          hint: "Check Sentry's own database; the call is made again when it answers.",
          retryable: true,
          cause: error,
        });
      }
    }
  }

  return {
    call,
    systemOf: async (target) =>
      deps.identity(target).then(
        ({ systemIdentifier }) => systemIdentifier,
        (error: unknown) => {
          deps.log.warn(
            { target, error: screened.line(messageOf(error)) },
            'which system it is cannot be told',
          );
          return null;
        },
      ),
    mayReadAgain: (recorded) => mayReadAgain(deps.registry, recorded),
    readCriterion: criterion,
    redMeasures: (recorded, rule) => redMeasures(deps.registry, recorded, rule),
    judgeRecorded: (step, recorded) => judgeRecorded(deps.registry, step, recorded),
    measures: (tool) => measuresOf(deps.registry, tool),
    ...createExecution({ ...deps, criterion }, parts),
  };
}

/** Whatever learns which system a name stands for puts it on record: the switch is for the system. */
async function identityOf({ sql, targets, identity }: GateDeps, name: string): Promise<TargetIdentity> {
  const found = await identity(name);
  const target = targets.get(name);
  if (target) await recordIdentity(sql, target, found.systemIdentifier);
  return found;
}

function noTarget(): OpsError {
  return new OpsError('GATE', 'A station let a call through without its tool or target.', {
    hint: 'Report this.',
  });
}

/** The request as the gate's own: a copy, so that nothing changes between a check and its use. */
function taken(asked: ToolCallRequest): { readonly request: ToolCallRequest; readonly refusal?: Refusal } {
  const input = plainJson(asked.input);
  const { proposal } = asked;
  const andThen = (proposal?.andThen ?? []).map((step) => ({
    ...step,
    tool: String(step.tool),
    plain: plainJson(step.input),
  }));
  const request: ToolCallRequest = {
    tool: String(asked.tool),
    target: asked.target == null ? null : String(asked.target),
    input: input.ok ? input.value : null,
    ...(proposal
      ? {
          proposal: {
            ...proposal,
            andThen: andThen.map(({ tool, why, plain }) => ({
              tool,
              why,
              input: plain.ok ? plain.value : null,
            })),
          },
        }
      : {}),
  };
  const [bad] = [input, ...andThen.map(({ plain }) => plain)].filter((each) => !each.ok);
  return bad ? { request, refusal: bad } : { request };
}
