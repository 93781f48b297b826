import { randomBytes } from 'node:crypto';
import { messageOf, OpsError, type Refusal } from '../domain/errors.ts';
import { asToolCallId } from '../domain/ids.ts';
import { newId } from '../domain/new-id.ts';
import type { Json, ToolCallRequest, ToolCallResult } from '../domain/tool-call.ts';
import { type FinishedCall, storeToolCall } from '../record/evidence.ts';
import type { Credential } from '../security/credentials.ts';
import type { ActiveTool, ReadTool } from '../tools/define.ts';
import { createExecution, type Execution } from './execute.ts';
import type { GateDeps } from './gate-deps.ts';
import { capOutput } from './output-cap.ts';
import { propose } from './propose.ts';
import type { Passage, Station } from './station.ts';
import { callBudget } from './stations/call-budget.ts';
import { cleanInput } from './stations/clean-input.ts';
import { knownTool } from './stations/known-tool.ts';
import { liveCredential } from './stations/live-credential.ts';
import { loadedToolset } from './stations/loaded-toolset.ts';
import { roleAccess } from './stations/role-access.ts';
import { targetInScope } from './stations/target-in-scope.ts';
import { withTimeout } from './with-timeout.ts';

/** The one way to a tool, for models, the playbook, MCP and approved actions alike. */
export interface Gate extends Execution {
  /** Runs a read tool, or turns an active one into a proposal. Never throws: every ending is a value, on record and audited. */
  call(credential: Credential, request: ToolCallRequest, options: CallOptions): Promise<ToolCallResult>;
}

export interface CallOptions {
  /** For the thread: why it is called, in a few words. */
  readonly purpose?: string | undefined;
  readonly signal: AbortSignal;
}

/** Stations 1 to 7, in their order. */
export function entranceStations(deps: GateDeps): readonly Station[] {
  return [
    knownTool(deps.registry),
    roleAccess,
    liveCredential(deps.vault),
    callBudget(deps.sql),
    targetInScope(deps.targets),
    cleanInput,
    loadedToolset,
  ];
}

export function createGate(deps: GateDeps, stations: readonly Station[] = entranceStations(deps)): Gate {
  const { sql, records, audit } = deps;

  async function call(
    credential: Credential,
    request: ToolCallRequest,
    options: CallOptions,
  ): Promise<ToolCallResult> {
    const id = asToolCallId(newId('tc', randomBytes));
    const startedAt = new Date();
    const passage: Passage = { credential, request };

    /** Station 12 and the evidence of station 11, whatever the ending. */
    const end = async (
      ending: Pick<FinishedCall, 'state' | 'output' | 'result' | 'truncated' | 'code' | 'actionId'>,
    ): Promise<void> => {
      await storeToolCall(sql, records, {
        id,
        incidentId: credential.incidentId,
        role: credential.role,
        tool: request.tool.slice(0, 100),
        target: request.target?.slice(0, 100) ?? null,
        input: deps.redactJson(passage.input ?? request.input),
        startedAt,
        purpose: options.purpose ?? null,
        ...ending,
      });
      await audit.append({
        kind: ending.state === 'refused' ? 'gate.refused' : 'gate.outcome',
        actor: credential.role,
        incidentId: credential.incidentId,
        details: { toolCall: id, tool: request.tool.slice(0, 100), state: ending.state, code: ending.code },
      });
    };
    const refused = async ({ code, reason }: Refusal): Promise<ToolCallResult> => {
      const text = deps.redact(reason);
      await end({ state: 'refused', output: text, result: null, truncated: false, code, actionId: null });
      return { kind: 'refused', toolCallId: id, code, reason: text };
    };

    try {
      for (const station of stations) {
        const refusal = await station(passage);
        if (refusal) return await refused(refusal);
      }
      const { tool, target, input } = passage;
      if (!tool || !target)
        throw new OpsError('GATE', 'A station let a call through without its tool or target.', {
          hint: 'Report this.',
        });
      await audit.append({
        kind: 'gate.intent',
        actor: credential.role,
        incidentId: credential.incidentId,
        details: {
          toolCall: id,
          tool: tool.name,
          target: target.name,
          input: deps.redactJson(input ?? null),
        },
      });
      const context = { target, ports: deps.ports, timeoutMs: tool.timeoutMs };
      if (tool.kind === 'active') {
        const proposed = await withTimeout(tool.timeoutMs, options.signal, (signal) =>
          propose(
            deps,
            credential,
            tool as ActiveTool<unknown, Json>,
            { ...context, signal },
            input ?? null,
            request.proposal,
          ),
        );
        if (!proposed.ok) return await refused(proposed);
        await end({
          state: 'proposed',
          output: proposed.text,
          result: null,
          truncated: false,
          code: null,
          actionId: proposed.actionId,
        });
        return { kind: 'proposed', toolCallId: id, actionId: proposed.actionId, text: proposed.text };
      }
      const raw = await withTimeout(tool.timeoutMs, options.signal, (signal) =>
        (tool as ReadTool).run({ ...context, signal }, input),
      );
      const { text, truncated } = capOutput(deps.redact(raw.text));
      const data = deps.redactJson(raw.data);
      await end({ state: 'ok', output: text, result: data, truncated, code: null, actionId: null });
      return { kind: 'ok', toolCallId: id, text, data, truncated };
    } catch (error) {
      const code = error instanceof OpsError ? error.code : 'TOOL_FAILED';
      const hint = error instanceof OpsError ? ` ${error.hint}` : '';
      const reason = deps.redact(`${messageOf(error)}${hint}`);
      await end({ state: 'failed', output: reason, result: null, truncated: false, code, actionId: null });
      return { kind: 'failed', toolCallId: id, code, reason };
    }
  }

  return { call, ...createExecution(deps, stations) };
}
