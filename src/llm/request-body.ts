import type Anthropic from '@anthropic-ai/sdk';
import type { AttemptRequest } from './backend.ts';
import { type ModelCapabilities, supportedEffort } from './capabilities.ts';

/**
 * The body of a Messages request: nothing in it that the model refuses (no sampling parameters, no forced tool, no
 * disabled thinking). Two cache breakpoints: the end of the system text, which all incidents share (tools come before
 * it in the API's order), and the automatic one at the end, which hits from the second turn on.
 */
export function requestBody(
  request: AttemptRequest,
  capabilities: ModelCapabilities,
): Anthropic.MessageCreateParamsNonStreaming {
  const effort = supportedEffort(request.effort, capabilities);
  return {
    model: request.model,
    max_tokens: Math.min(request.maxTokens, capabilities.maxOutputTokens),
    cache_control: { type: 'ephemeral' },
    system: [{ type: 'text', text: request.system, cache_control: { type: 'ephemeral' } }],
    ...(request.tools.length === 0 ? {} : { tools: toolParams(request) }),
    messages: request.messages as Anthropic.MessageParam[],
    // Without `summarized` the words between tool calls arrive empty, and the thread would be silent for minutes.
    ...(capabilities.adaptiveThinking
      ? { thinking: { type: 'adaptive', display: 'summarized' } as const }
      : {}),
    ...(effort === undefined ? {} : { output_config: { effort } }),
  };
}

function toolParams(request: AttemptRequest): Anthropic.Tool[] {
  return request.tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema as Anthropic.Tool.InputSchema,
  }));
}
