import { messageOf, OpsError, type Refusal, refuse } from '../core/errors.ts';
import type { ToolCallId } from '../core/ids.ts';
import type { Json, ToolCallRequest, ToolCallResult } from '../core/tool-call.ts';
import { type FinishedCall, storeToolCall } from '../record/evidence.ts';
import type { Credential } from '../safety/vault/credentials.ts';
import {
  type ActiveTool,
  type AnyTool,
  hasNoTarget,
  type ReadTool,
  type ToolOutput,
} from '../tools/define.ts';
import { type CallContext, type Check, runChecks } from './checks/check.ts';
import { isOfRecord, notRecorded, onRecord, onSystem } from './faults.ts';
import type { GateDeps } from './gate-deps.ts';
import type { ReadsCriterion } from './proposals/aim.ts';
import type { Called } from './proposals/draft-step.ts';
import { ofStep } from './proposals/plan-of-steps.ts';
import { propose } from './proposals/propose.ts';
import type { ProposalOrder } from './proposals/store-proposal.ts';
import { reach } from './reach.ts';
import type { Screened } from './screened.ts';
import { snapshot } from './snapshot.ts';
import { withTimeout } from './with-timeout.ts';

export interface CallOptions extends ProposalOrder {
  /** For the thread: why it is called, in a few words. */
  readonly purpose?: string | undefined;
  /** It is put on record as asked for, once it is known that it might run, and not run: in words, why. */
  readonly notRun?: string | undefined;
  /** Who has it called, for the audit log, where that is not the role itself. */
  readonly by?: string;
  readonly signal: AbortSignal;
}

/** What a call needs of the gate. */
export interface CallDeps extends GateDeps {
  readonly preChecks: readonly Check[];
  readonly screened: Screened;
  readonly criterion: ReadsCriterion;
}

/** One call while it is under way. */
interface Call {
  readonly deps: CallDeps;
  readonly id: ToolCallId;
  readonly startedAt: Date;
  readonly credential: Credential;
  readonly options: CallOptions;
  readonly context: CallContext;
}

type CallOutcome = Pick<FinishedCall, 'state' | 'output' | 'result' | 'truncated' | 'code' | 'actionId'>;
/** How it is put on record, and what the caller is told. */
type Ended = readonly [CallOutcome, ToolCallResult];

/** `Gate.call`: checks, tool, record. */
export async function callTool(
  deps: CallDeps,
  id: ToolCallId,
  credential: Credential,
  asked: ToolCallRequest,
  options: CallOptions,
): Promise<ToolCallResult> {
  const { request, refusal } = snapshot(asked);
  const context: CallContext = { credential, request };
  const call: Call = { deps, id, startedAt: new Date(), credential, options, context };
  const [outcome, result] = refusal
    ? refused(call, refusal)
    : await passAndRun(call).catch((error: unknown) => failed(call, error));
  await record(call, outcome);
  return result;
}

/** All checks and the tool. A refusal is an outcome; faults are thrown, the tool's own as an OpsError. */
async function passAndRun(call: Call): Promise<Ended> {
  const { deps, id, credential, options, context } = call;
  const no = await runChecks(deps.preChecks, context);
  if (no) return refused(call, no);
  const { tool, target, input = null } = context;
  if (options.notRun !== undefined) return refused(call, refuse('NOT_RUN', options.notRun));
  if (!tool || !(target || hasNoTarget(tool)))
    throw new OpsError('GATE', 'A check let a call through without its tool or target.', {
      hint: 'Report this.',
    });
  const intent = deps.audit.append({
    kind: 'gate.intent',
    actor: options.by ?? credential.role,
    incidentId: credential.incidentId,
    details: {
      toolCall: id,
      tool: tool.name,
      target: target?.name ?? null,
      input: deps.screened.input(input),
    },
  });
  await onRecord(intent);
  if (tool.kind === 'active') return proposePlan(call);
  const used = (): Promise<ToolOutput | Refusal> =>
    withTimeout(tool.timeoutMs, options.signal, async (signal) => use(call, tool, input, signal));
  // What reads the record alone fails with it.
  const raw = tool.kind === 'evidence' ? await used() : await onSystem(used);
  if ('ok' in raw) return refused(call, raw);
  const { text, data, truncated } = deps.screened.output(raw);
  return [
    { state: 'ok', output: text, result: data, truncated, code: null, actionId: null },
    { kind: 'ok', toolCallId: id, text, data, truncated },
  ];
}

/** Runs a tool that changes no system. Memory's own writes are judged by its scanner and policy, which may refuse. */
async function use(
  { deps, id, credential, context: { target } }: Call,
  tool: Exclude<AnyTool, ActiveTool>,
  input: Json,
  signal: AbortSignal,
): Promise<ToolOutput | Refusal> {
  const { timeoutMs } = tool;
  const { incidentId, role } = credential;
  if (tool.kind === 'evidence')
    return tool.run({ incidentId, evidence: deps.records, signal, timeoutMs }, input);
  if (tool.kind === 'foreign') return tool.run({ signal, timeoutMs }, input);
  if (tool.kind === 'changes')
    return deps.changes
      ? tool.run({ incidentId, role, changes: deps.changes, signal, timeoutMs }, input)
      : refuse('CHANGES_OFF', 'What was changed cannot be looked at here.');
  if (tool.kind === 'usual')
    return deps.usual
      ? tool.run({ incidentId, usual: deps.usual, signal, timeoutMs }, input)
      : refuse('USUAL_OFF', 'No usual values are kept (SENTRY_USUAL_MINUTES).');
  if (hasNoTarget(tool))
    return deps.memory
      ? tool.run({ incidentId, role, toolCallId: id, memory: deps.memory, signal, timeoutMs }, input)
      : refuse('MEMORY_OFF', 'Memory documents are not available.');
  if (!target) throw new Error('a read without a target');
  // Nothing else of what it returns: a read tool refuses nothing and approves nothing.
  const { text, data } = await (tool as ReadTool).run({ ...reach(deps, target), timeoutMs, signal }, input);
  return { text, data };
}

/** Check 9 for a call that nobody has approved. */
async function proposePlan(call: Call): Promise<Ended> {
  const { deps, id, credential, options, context } = call;
  const later = await laterSteps(call);
  if ('ok' in later) return refused(call, later);
  const { proposal } = context.request;
  const timeoutMs = [context, ...later].reduce((sum, { tool }) => sum + (tool?.timeoutMs ?? 0), 0);
  const proposed = await withTimeout(timeoutMs, options.signal, (signal) =>
    propose(
      deps,
      credential,
      [
        calledBy(deps, context, proposal?.why ?? '', signal),
        ...later.map((step, at) => calledBy(deps, step, proposal?.andThen?.[at]?.why ?? '', signal)),
      ],
      proposal,
      options,
    ),
  );
  if (!proposed.ok) return refused(call, proposed);
  const { actionId, text } = proposed;
  return [
    { state: 'proposed', output: text, result: null, truncated: false, code: null, actionId },
    { kind: 'proposed', toolCallId: id, actionId, text },
  ];
}

function calledBy(
  deps: CallDeps,
  { tool, target, input = null }: CallContext,
  why: string,
  signal: AbortSignal,
): Called {
  if (!target) throw new Error('a proposal without a target');
  const active = tool as ActiveTool<unknown, Json>;
  return {
    tool: active,
    context: { ...reach(deps, target), timeoutMs: active.timeoutMs, signal },
    input,
    why,
  };
}

/** The later steps of a plan pass the same checks, each by itself and on the target of the first. */
async function laterSteps({ deps, credential, context }: Call): Promise<readonly CallContext[] | Refusal> {
  const andThen = context.request.proposal?.andThen ?? [];
  const steps: CallContext[] = [];
  for (const [at, { tool, input }] of andThen.entries()) {
    const step: CallContext = {
      credential,
      request: { tool, target: context.request.target, input },
    };
    const refusal =
      (await runChecks(deps.preChecks, step)) ??
      (step.tool?.kind === 'active' ? undefined : refuse('NOT_ACTIVE', 'It changes nothing.'));
    if (refusal) return ofStep(at + 1, andThen.length + 1, tool, refusal);
    steps.push(step);
  }
  return steps;
}

function refused({ deps: { screened }, id }: Call, { code, reason: said, wait }: Refusal): Ended {
  const reason = screened.line(said);
  const result = wait ? { until: wait.until, limit: screened.line(wait.limit) } : null;
  return [
    { state: 'refused', output: reason, result, truncated: false, code, actionId: null },
    { kind: 'refused', toolCallId: id, code, reason },
  ];
}

/** Throws NOT_RECORDED where it was not the tool that failed: a read is not said to have failed for want of our own database. */
function failed({ deps: { screened }, id }: Call, error: unknown): Ended {
  if (isOfRecord(error)) throw notRecorded(error);
  const code = error instanceof OpsError ? error.code : 'TOOL_FAILED';
  const hint = error instanceof OpsError ? ` ${error.hint}` : '';
  const reason = screened.line(`${messageOf(error)}${hint}`.trimEnd());
  return [
    { state: 'failed', output: reason, result: null, truncated: false, code, actionId: null },
    { kind: 'failed', toolCallId: id, code, reason },
  ];
}

/** Check 12 and the evidence of check 11, however the call ended. */
async function record(
  { deps, id, startedAt, credential, options, context }: Call,
  outcome: CallOutcome,
): Promise<void> {
  const { screened } = deps;
  const { request } = context;
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
        // Memory and the record are no target, whatever the call names: what they say is no read of a live system.
        target:
          request.target === null || (context.tool && hasNoTarget(context.tool))
            ? null
            : screened.line(request.target, 100),
        input: screened.input(context.input ?? request.input),
        startedAt,
        purpose: options.purpose === undefined ? null : screened.line(options.purpose, 500),
        ...outcome,
      });
    await deps.audit.append({
      kind: outcome.state === 'refused' ? 'gate.refused' : 'gate.outcome',
      actor: ours ? (options.by ?? credential.role) : 'unknown',
      ...(ours ? { incidentId: credential.incidentId } : {}),
      details: { toolCall: id, tool, state: outcome.state, code: outcome.code },
    });
  } catch (error) {
    throw notRecorded(error);
  }
}
