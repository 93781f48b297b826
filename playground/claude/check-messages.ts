import { type ApiProblem, invalid } from './api-error.ts';
import { blocksOf, type MessagesRequest, type RequestBlock, type RequestMessage } from './scenario.ts';

/**
 * Shape of the conversation: roles, empty content, and the pairing of every tool call with exactly one result in
 * the very next message. Roles must alternate: the real API would merge neighbours of one role, which hides a lost
 * turn, so this server is stricter here. `endsPaused`: the last message may be an assistant turn to be continued.
 */
export function checkMessages(body: MessagesRequest, endsPaused: boolean): ApiProblem | undefined {
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0) {
    return invalid('messages: at least one message is required');
  }
  const [first] = messages;
  const summarised = first !== undefined && blocksOf(first)[0]?.type === 'compaction';
  if (first?.role !== 'user' && !summarised)
    return invalid('messages: first message must use the "user" role');
  for (const [index, message] of messages.entries()) {
    const problem = checkMessage(messages, message, index);
    if (problem !== undefined) return problem;
  }
  if (messages.at(-1)?.role === 'assistant' && !endsPaused) {
    return invalid(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  }
  return checkBreakpoints(body);
}

function checkMessage(
  messages: readonly RequestMessage[],
  message: RequestMessage,
  index: number,
): ApiProblem | undefined {
  if (message.role !== 'user' && message.role !== 'assistant') {
    return invalid(`messages.${index}.role: Input should be 'user' or 'assistant'`);
  }
  const previous = messages[index - 1];
  if (previous?.role === message.role && message.role === 'user') {
    return invalid(`messages.${index}: roles must alternate between "user" and "assistant"`);
  }
  const blocks = blocksOf(message);
  if (blocks.length === 0) return invalid(`messages.${index}: all messages must have non-empty content`);
  const empty = blocks.findIndex((block) => block.type === 'text' && block['text'] === '');
  if (empty >= 0) return invalid(`messages.${index}.content.${empty}: text content blocks must be non-empty`);
  return checkPairing(index, previous, blocks, messages[index + 1]);
}

function checkPairing(
  index: number,
  previous: RequestMessage | undefined,
  blocks: readonly RequestBlock[],
  next: RequestMessage | undefined,
): ApiProblem | undefined {
  const asked = idsOf(previous, 'tool_use', 'id');
  const results = blocks.filter((block) => block.type === 'tool_result');
  for (const [position, block] of blocks.entries()) {
    if (block.type !== 'tool_result') continue;
    const id = String(block['tool_use_id']);
    if (!asked.includes(id)) {
      return invalid(
        `messages.${index}.content.${position}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (results.filter((other) => other['tool_use_id'] === id).length > 1) {
      return invalid(
        `messages.${index}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    }
    if (position >= results.length) {
      return invalid(`messages.${index}: \`tool_result\` blocks must come first in the message`);
    }
  }
  const own = blocks.filter((block) => block.type === 'tool_use').map((block) => String(block['id']));
  const answered = idsOf(next, 'tool_result', 'tool_use_id');
  const missing = own.filter((id) => !answered.includes(id));
  return missing.length === 0
    ? undefined
    : invalid(
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
}

function idsOf(message: RequestMessage | undefined, type: string, field: string): string[] {
  if (message === undefined) return [];
  return blocksOf(message)
    .filter((block) => block.type === type)
    .map((block) => String(block[field]));
}

/** At most four cache breakpoints a request; the automatic one counts. */
function checkBreakpoints(body: MessagesRequest): ApiProblem | undefined {
  const count = JSON.stringify(body).split('"cache_control"').length - 1;
  return count <= 4
    ? undefined
    : invalid(`A maximum of 4 blocks with cache_control may be provided. Found ${count}.`);
}
