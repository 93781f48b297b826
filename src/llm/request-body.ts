import type Anthropic from '@anthropic-ai/sdk';
import type { AttemptRequest } from './backend.ts';
import { type ModelCapabilities, supportedEffort } from './capabilities.ts';
import type { ModelTurn } from './types.ts';

/** With the one parameter of a beta that is used here. */
export interface MessageBody extends Anthropic.MessageCreateParamsNonStreaming {
  readonly compaction?: Anthropic.Beta.BetaSummarizeCompaction;
}

/**
 * The body of a Messages request: nothing in it that the model refuses (no sampling parameters, no forced tool, no
 * disabled thinking). Three cache breakpoints: the end of the system text, which all incidents share (tools come before
 * it in the API's order), the end, and where the request before this one ended: the API looks only twenty blocks back,
 * and ten parallel calls with their results are more. None is the automatic one: InvokeModel of Bedrock answers 400 to
 * `cache_control` beside the messages (platform.claude.com, build-with-claude/prompt-caching, 2026-11).
 */
export function requestBody(request: AttemptRequest, capabilities: ModelCapabilities): MessageBody {
  const effort = supportedEffort(request.effort, capabilities);
  return {
    model: request.model,
    max_tokens: Math.min(request.maxTokens, capabilities.maxOutputTokens),
    system: [{ type: 'text', text: request.system, cache_control: { type: 'ephemeral' } }],
    ...(request.tools.length === 0 ? {} : { tools: toolParams(request) }),
    messages: marked(request.messages),
    // Without `summarized` the words between tool calls arrive empty, and the thread would be silent for minutes.
    ...(capabilities.adaptiveThinking
      ? { thinking: { type: 'adaptive', display: 'summarized' } as const }
      : {}),
    ...(effort === undefined ? {} : { output_config: { effort } }),
    ...(request.compaction === undefined
      ? {}
      : { compaction: { type: 'summarize', instructions: request.compaction.instructions } as const }),
  };
}

/** Breakpoints are no part of what the model reads: moving one leaves the history as it is. */
function marked(turns: readonly ModelTurn[]): Anthropic.MessageParam[] {
  const users = turns.flatMap(({ role }, index) => (role === 'user' ? [index] : [])).slice(-2);
  return turns.map(({ role, content }, index) => {
    const last = content.at(-1);
    if (!users.includes(index) || last === undefined) return { role, content };
    return { role, content: [...content.slice(0, -1), { ...last, cache_control: { type: 'ephemeral' } }] };
  }) as Anthropic.MessageParam[];
}

function toolParams(request: AttemptRequest): Anthropic.Tool[] {
  return request.tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema as Anthropic.Tool.InputSchema,
  }));
}
