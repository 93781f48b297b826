import { localAccess } from '../../src/app/host-access.ts';
import { messageOf, OpsError } from '../../src/core/errors.ts';
import { asToolCallId } from '../../src/core/ids.ts';
import type { Target } from '../../src/core/target.ts';
import type { Json, ToolCallRequest, ToolCallResult } from '../../src/core/tool-call.ts';
import { redact, redactJson } from '../../src/safety/screen/redact.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { createHostTargets } from '../../src/targets/host/connect/create-host-targets.ts';
import { createPostgresTargets } from '../../src/targets/postgres/connect/create-postgres-targets.ts';
import type { ToolPorts } from '../../src/tools/ports.ts';
import type { RecordedOutput } from '../replay/scenario.ts';
import type { CausedFault } from './fault-case.ts';

/** One target that is looked at, and how it is reached. */
export interface LivePlace {
  readonly target: Target;
  readonly ports: ToolPorts;
  close(): Promise<void>;
}

export function databasePlace(name: string, readUrl: string): LivePlace {
  const configured = { name, kind: 'postgres', environment: 'production', aliases: [] } as const;
  const postgres = createPostgresTargets([{ ...configured, readUrl, actUrl: null }]);
  return {
    target: { ...configured, domain: 'postgres' },
    // The tools of a database reach nothing else.
    ports: { postgres } as unknown as ToolPorts,
    close: () => postgres.close(),
  };
}

export function hostPlace(name: string, host: Extract<CausedFault, { host: unknown }>['host']): LivePlace {
  const configured = {
    name,
    kind: 'host',
    domain: 'docker',
    environment: 'production',
    aliases: [],
  } as const;
  const targets = createHostTargets([{ ...configured, ...host }], { access: localAccess, deniedPorts: [] });
  return {
    target: configured,
    // The tools of a host reach nothing else.
    ports: { host: targets } as unknown as ToolPorts,
    close: async () => undefined,
  };
}

/** The real tools on a real server, each call written down as the gate would keep it. */
export interface LiveTools {
  readonly outputs: readonly RecordedOutput[];
  call(request: ToolCallRequest): Promise<ToolCallResult>;
  close(): Promise<void>;
}

export function liveTools(on: LivePlace): LiveTools {
  const outputs: RecordedOutput[] = [];
  const { target, ports } = on;

  async function call(request: ToolCallRequest): Promise<ToolCallResult> {
    const toolCallId = asToolCallId(`tc_${String(outputs.length + 1).padStart(12, '0')}`);
    const tool = allTools.find(({ name }) => name === request.tool);
    if (tool === undefined || tool.kind === 'active')
      return { kind: 'refused', toolCallId, code: 'UNKNOWN_TOOL', reason: `${request.tool} does not read` };
    const input: unknown = tool.input.parse(request.input);
    const args = JSON.parse(JSON.stringify(input)) as Record<string, Json>;
    try {
      const context = {
        target,
        ports,
        signal: AbortSignal.timeout(tool.timeoutMs),
        timeoutMs: tool.timeoutMs,
      };
      const out = await tool.run(context, input);
      const text = redact(out.text);
      const data = redactJson(JSON.parse(JSON.stringify(out.data)) as Json);
      outputs.push({
        tool: tool.name,
        args: args as never,
        status: 'success',
        output: text,
        data: data as never,
      });
      return { kind: 'ok', toolCallId, text, data, truncated: false };
    } catch (error) {
      const code = error instanceof OpsError ? error.code : 'BUG';
      const reason = redact(messageOf(error));
      if (code === 'BUG') throw error;
      outputs.push({ tool: tool.name, args: args as never, status: 'error', output: reason, code });
      return { kind: 'failed', toolCallId, code, reason };
    }
  }
  return { outputs, call, close: () => on.close() };
}
