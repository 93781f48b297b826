import type { AttemptRequest } from './backend.ts';
import { tabledCapabilities } from './capabilities.ts';
import type { AssistantContent, ModelTurn, UserBlock } from './types.ts';

/**
 * The body of an OpenAI-style chat request for the same conversation. What that form has no place for is left out:
 * thinking (its signatures would be lost), the effort dial (the gateway makes a token budget of it, which current
 * models refuse) and cache breakpoints.
 */
export function chatBody(request: AttemptRequest): object {
  return {
    model: request.model,
    max_tokens: Math.min(request.maxTokens, tabledCapabilities(request.model).maxOutputTokens),
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'system', content: request.system }, ...request.messages.flatMap(chatMessages)],
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            function: { name, description, parameters: inputSchema },
          })),
        }),
  };
}

function chatMessages(turn: ModelTurn): object[] {
  return turn.role === 'assistant' ? [assistantMessage(turn.content)] : turn.content.map(userMessage);
}

function assistantMessage(content: AssistantContent): object {
  const text = content
    .flatMap((block) =>
      // A summary that another server wrote before this one took over.
      block.type === 'text' || block.type === 'compaction' ? [String(block['text'] ?? block['content'])] : [],
    )
    .join('\n\n');
  const calls = content.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            id: String(block['id']),
            type: 'function',
            function: { name: String(block['name']), arguments: JSON.stringify(block['input']) },
          },
        ]
      : [],
  );
  return { role: 'assistant', content: text || null, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

/** Results come first in a user turn, as the pairing wants it; failures have no flag here and say so in words. */
function userMessage(block: UserBlock): object {
  if (block.type === 'text') return { role: 'user', content: block.text };
  const content = block.is_error ? `Error: ${block.content}` : block.content;
  return { role: 'tool', tool_call_id: block.tool_use_id, content };
}
