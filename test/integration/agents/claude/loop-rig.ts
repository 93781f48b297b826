import { z } from 'zod';
import type { Scenario } from '../../../../playground/claude/scenario.ts';
import {
  createScriptedClaude,
  type ScriptedClaude,
  type ScriptedClaudeOptions,
} from '../../../../playground/claude/scripted-claude.ts';
import { runLoop } from '../../../../src/agents/loop/run-loop.ts';
import type { AgentEvent, LoopOptions, LoopOutcome } from '../../../../src/agents/loop/types.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';

export const Found = z.object({ pid: z.int(), confidence: z.number().min(0).max(1) });
export type Found = z.infer<typeof Found>;

export interface LoopRig {
  readonly claude: ScriptedClaude;
  readonly events: AgentEvent[];
  readonly calls: { readonly name: string; readonly input: unknown }[];
  run(overrides?: Partial<LoopOptions<Found>>): Promise<LoopOutcome<Found>>;
}

/** The loop as the product wires it (real SDK, real sockets) in front of a scripted model; tools answer at once. */
export async function startLoop(
  scenario: Scenario,
  server: Partial<ScriptedClaudeOptions> = {},
): Promise<LoopRig> {
  const claude = await createScriptedClaude({ scenario, ...server });
  const gateway = createModelGateway({
    backend: createAnthropicBackend({ apiKey: 'sk-test', baseUrl: claude.url }),
    retry: { baseDelayMs: 1 },
  });
  const events: AgentEvent[] = [];
  const calls: { name: string; input: unknown }[] = [];
  return {
    claude,
    events,
    calls,
    run: (overrides = {}) =>
      runLoop({
        stream: gateway.stream,
        system: 'You find the blocking session.',
        tools: [
          { name: 'pg_blocking', description: 'Who blocks whom.', inputSchema: { type: 'object' } },
          { name: 'pg_activity', description: 'Sessions.', inputSchema: { type: 'object' } },
        ],
        report: { name: 'report_found', description: 'The answer.', schema: Found },
        prompt: 'Eight sessions wait.',
        effort: 'low',
        maxTokens: 1_000,
        signal: new AbortController().signal,
        onEvent: (event) => void events.push(event),
        ...overrides,
        callTool: async (name, input, id, signal) => {
          calls.push({ name, input });
          return (
            (await overrides.callTool?.(name, input, id, signal)) ?? { content: 'pid 4711', isError: false }
          );
        },
      }),
  };
}

export const call = (tool: string, input: unknown = {}) => ({ tool, input });
export const found = (input: unknown = { pid: 4711, confidence: 0.9 }) => ({
  blocks: [call('report_found', input)],
});
