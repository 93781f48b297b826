import { messageOf, OpsError } from '../../src/core/errors.ts';
import { asToolCallId } from '../../src/core/ids.ts';
import type { Target } from '../../src/core/target.ts';
import type { Json, ToolCallRequest, ToolCallResult } from '../../src/core/tool-call.ts';
import { redact, redactJson } from '../../src/safety/screen/redact.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import type { TargetConfig } from '../../src/targets/kind.ts';
import { kinds } from '../../src/targets/kinds.ts';
import { connectSystems, type Systems, toTarget } from '../../src/targets/systems.ts';
import type { Docs } from '../../src/tools/ports.ts';
import type { RecordedOutput } from '../replay/scenario.ts';
import type { CausedFault } from './fault-case.ts';

/** What is recorded is of the system alone. */
const noDocs: Docs = { hosts: [], fetch: () => Promise.reject(new Error('no page is read here')) };

/** One target that is looked at, and how it is reached. */
export interface LivePlace {
  readonly target: Target;
  readonly systems: Systems;
}

export function databasePlace(name: string, readUrl: string): LivePlace {
  return placeOf({ name, kind: 'postgres', domain: 'postgres', readUrl, actUrl: null });
}

export function hostPlace(name: string, host: Extract<CausedFault, { host: unknown }>['host']): LivePlace {
  return placeOf({ name, kind: 'host', domain: 'docker', watch: [], ...host });
}

export function enginePlace(
  name: string,
  { kind, socket }: Extract<CausedFault, { engine: unknown }>['engine'],
): LivePlace {
  return placeOf({ name, kind, domain: kind, address: { socket }, only: {}, acts: false, watch: false });
}

export function clusterPlace(
  name: string,
  cluster: Extract<CausedFault, { cluster: unknown }>['cluster'],
): LivePlace {
  return placeOf({
    name,
    kind: 'kubernetes',
    domain: 'kubernetes',
    acts: false,
    maxReplicas: 10,
    ...cluster,
  });
}

function placeOf(
  given: Pick<TargetConfig, 'name' | 'kind' | 'domain'> & { readonly [field: string]: unknown },
): LivePlace {
  const config = { ...given, environment: 'production', aliases: [] };
  return { target: toTarget(config), systems: connectSystems(kinds, [config], { ownPorts: [] }) };
}

/** The real tools on a real server, each call written down as the gate would keep it. */
export interface LiveTools {
  /** Of the target. */
  readonly kind: string;
  readonly outputs: readonly RecordedOutput[];
  call(request: ToolCallRequest): Promise<ToolCallResult>;
  close(): Promise<void>;
}

export function liveTools(on: LivePlace): LiveTools {
  const outputs: RecordedOutput[] = [];
  const { target, systems } = on;

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
        system: systems.system(target.name),
        docs: noDocs,
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
  return { kind: target.kind, outputs, call, close: () => systems.close() };
}
