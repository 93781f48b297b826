import { checkVerifyStep, type VerifyCheck } from '../../../../src/actions/recovery/check-verify-step.ts';
import { measuresOf } from '../../../../src/actions/recovery/criterion.ts';
import { createPlaybook } from '../../../../src/agents/playbook/create-playbook.ts';
import type { Investigation, PlanOutcome } from '../../../../src/agents/ports.ts';
import { unattended } from '../../../../src/agents/unattended.ts';
import type { Action } from '../../../../src/core/action.ts';
import type { Diagnosis, Triage } from '../../../../src/core/diagnosis.ts';
import { messageOf, OpsError } from '../../../../src/core/errors.ts';
import { asActionId, asToolCallId } from '../../../../src/core/ids.ts';
import type { Incident } from '../../../../src/core/incident.ts';
import type { Target } from '../../../../src/core/target.ts';
import type {
  Json,
  PlanStep,
  ToolCallRequest,
  ToolCallResult,
  VerifyPlan,
} from '../../../../src/core/tool-call.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import type { Tool } from '../../../../src/tools/define.ts';
import type { ToolPorts } from '../../../../src/tools/ports.ts';
import type { ToolRegistry } from '../../../../src/tools/registry.ts';
import { createPostgresTargets } from '../../../support/targets.ts';
import { anAction, anIncident } from '../../../unit/agents/playbook/scripted-work.ts';

export interface LiveIncident {
  readonly outputs: Map<string, string>;
  readonly proposals: ToolCallRequest[];
  /** The alert that opens the incident arrives now. */
  alertedNow(): void;
  triageAndDiagnose(): Promise<{ readonly triage: Triage; readonly diagnosis: Diagnosis }>;
  plan(diagnosis: Diagnosis): Promise<PlanOutcome>;
  /** Runs the last proposal with all of its steps, as approved ones would be; the last that ran. */
  approve(): Promise<Action>;
  verifyOnce(plan?: VerifyPlan): Promise<readonly VerifyCheck[]>;
  /** Checks until all hold (or any differs from `wanted`), at most as long as the plan says. */
  verify(): Promise<'fixed' | 'not_fixed'>;
  /** The next round, with what was tried. */
  nextRound(tried: readonly Action[]): void;
  close(): Promise<void>;
}

/**
 * One incident on a real server, through the real tools. Stands where the gate and the engine do: it parses inputs, runs
 * read tools, and keeps proposals; nothing else of theirs is wanted here.
 */
export function liveIncident(options: {
  readonly readUrl: string;
  readonly actUrl: string;
  /** Something else than a database. */
  readonly on?: { readonly target: Target; readonly ports: ToolPorts };
  /** Its neighbours, which are only read. */
  readonly beside?: readonly { readonly target: Target; readonly ports: ToolPorts }[];
  readonly tools: ToolRegistry;
  readonly runbooks: readonly Runbook[];
  readonly incident: Partial<Incident>;
}): LiveIncident {
  const databases = createPostgresTargets([
    {
      name: 'shop-db',
      kind: 'postgres',
      environment: 'test',
      aliases: [],
      readUrl: options.readUrl,
      actUrl: options.actUrl,
    },
  ]);
  const ports = options.on?.ports ?? databases.ports;
  const target: Target = options.on?.target ?? {
    name: 'shop-db',
    kind: 'postgres',
    domain: 'postgres',
    environment: 'test',
    aliases: [],
  };
  const playbook = createPlaybook({ runbooks: () => options.runbooks });
  const outputs = new Map<string, string>();
  const proposals: ToolCallRequest[] = [];
  let incident = anIncident({
    alertName: null,
    openedAt: new Date().toISOString(),
    target: target.name,
    domain: target.domain,
    ...options.incident,
  });
  let tried: readonly Action[] = [];

  const beside = options.beside ?? [];
  const context = (
    tool: Tool,
    on: { readonly target: Target; readonly ports: ToolPorts } = { target, ports },
  ) => ({
    target: on.target,
    system: on.ports.system(on.target.name),
    docs: ports.docs,
    signal: AbortSignal.timeout(30_000),
    timeoutMs: tool.timeoutMs,
  });

  async function callTool(request: ToolCallRequest): Promise<ToolCallResult> {
    const toolCallId = asToolCallId(`tc_${String(outputs.size + 1).padStart(12, '0')}`);
    const tool = options.tools.get(request.tool);
    if (tool === undefined)
      return { kind: 'refused', toolCallId, code: 'UNKNOWN_TOOL', reason: request.tool };
    const input = tool.input.safeParse(request.input);
    if (!input.success)
      return { kind: 'refused', toolCallId, code: 'BAD_INPUT', reason: input.error.message };
    try {
      if (tool.kind === 'active') {
        await tool.preflight(context(tool), input.data);
        for (const step of request.proposal?.andThen ?? []) await preflightOf(step);
        proposals.push(request);
        return {
          kind: 'proposed',
          toolCallId,
          actionId: asActionId('act_aaaaaaaaaaaa'),
          text: tool.command(input.data),
        };
      }
      const neighbour = beside.find((each) => each.target.name === request.target);
      const { text, data } = await tool.run(context(tool, neighbour), input.data);
      outputs.set(toolCallId, text);
      // What is recorded has been through JSON.
      return {
        kind: 'ok',
        toolCallId,
        text,
        data: JSON.parse(JSON.stringify(data)) as Json,
        truncated: false,
      };
    } catch (error) {
      const code = error instanceof OpsError ? error.code : 'BUG';
      return { kind: 'failed', toolCallId, code, reason: messageOf(error) };
    }
  }

  const work = (): Investigation => ({
    ...unattended,
    incident,
    recall: { incidents: [], runbooks: [], episodes: { similar: [], failedCommands: [] }, missing: null },
    tried,
    guidance: [],
    looks: ports.looks(target.name),
    neighbours: beside.map((each) => each.target),
    callTool,
    say: () => undefined,
    unsay: () => undefined,
    durably: (_name, fn) => fn(),
    memoryFor: async () => null,
    dropped: async (claim, reason) => {
      throw new Error(`dropped "${claim}": ${reason}`);
    },
    spent: async () => undefined,
    signal: AbortSignal.timeout(120_000),
  });

  async function verifyOnce(
    plan = lastProposal().proposal?.verify ?? undefined,
  ): Promise<readonly VerifyCheck[]> {
    if (plan === undefined) throw new Error('the proposal has no verify plan');
    const checks: VerifyCheck[] = [];
    for (const step of plan.steps)
      checks.push(
        checkVerifyStep(
          step,
          await callTool({ tool: step.tool, target: target.name, input: step.input }),
          measuresOf(options.tools, step.tool),
        ),
      );
    return checks;
  }

  function actingTool(name: string) {
    const tool = options.tools.get(name);
    if (tool?.kind !== 'active') throw new Error(`${name} does not act`);
    return tool;
  }

  async function preflightOf({ tool: name, input: raw }: Pick<PlanStep, 'tool' | 'input'>) {
    const tool = actingTool(name);
    const input: unknown = tool.input.parse(raw);
    return { tool, input, before: await tool.preflight(context(tool), input) };
  }

  async function runStep(step: Pick<PlanStep, 'tool' | 'input'>): Promise<Action> {
    const { tool, input, before } = await preflightOf(step);
    const outcome = await tool.run(context(tool), input, before.guard, {
      clock: before.clock,
      withinMs: tool.timeoutMs,
    });
    return anAction({
      tool: tool.name,
      target: target.name,
      input: step.input,
      command: tool.command(input),
      outcome: outcome.text,
      state: outcome.kind,
      round: incident.round,
    });
  }

  function lastProposal(): ToolCallRequest {
    const last = proposals.at(-1);
    if (last === undefined) throw new Error('nothing was proposed');
    return last;
  }

  return {
    outputs,
    proposals,
    alertedNow() {
      incident = { ...incident, openedAt: new Date().toISOString() };
    },
    async triageAndDiagnose() {
      const triage = await playbook.triage(work());
      return { triage, diagnosis: await playbook.diagnose(work(), triage) };
    },
    plan: (diagnosis) => playbook.plan(work(), diagnosis),
    async approve() {
      const { tool, input, proposal } = lastProposal();
      let ran = await runStep({ tool, input });
      for (const step of proposal?.andThen ?? []) {
        if (ran.state !== 'succeeded') break;
        ran = await runStep(step);
      }
      return ran;
    },
    verifyOnce,
    async verify() {
      const plan = lastProposal().proposal?.verify;
      if (!plan) throw new Error('the proposal has no verify plan');
      const until = Date.now() + Math.min(plan.timeoutMs, 30_000);
      while (Date.now() < until) {
        const checks = await verifyOnce(plan);
        if (checks.every((check) => check.holds === true)) return 'fixed';
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      return 'not_fixed';
    },
    nextRound(earlier) {
      tried = earlier;
      incident = { ...incident, round: incident.round + 1 };
    },
    close: () => databases.close(),
  };
}
