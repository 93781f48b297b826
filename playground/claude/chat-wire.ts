import { type ApiProblem, invalid } from './api-error.ts';
import {
  outputTokensOf,
  pieces,
  type RenderContext,
  type RenderedEvent,
  type RenderedMessage,
  stopOf,
} from './render.ts';
import type { MessagesRequest, RequestBlock, RequestMessage, ScriptedReply } from './scenario.ts';

/**
 * The OpenAI-style chat completions of the Bedrock Access Gateway (aws-samples): thinking folded into `<think>` text, its
 * signature lost, tool indexes one below the block's, errors inside a stream as a data chunk.
 */
interface ChatRequest {
  readonly model: string;
  readonly max_tokens?: number;
  readonly stream?: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters?: unknown } }[];
  readonly [parameter: string]: unknown;
}

interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

const KNOWN = new Set(['model', 'max_tokens', 'stream', 'stream_options', 'messages', 'tools']);

/** What this gateway would refuse, or would make of it what the model behind it refuses. */
export function checkChat(body: object): ApiProblem | undefined {
  const unknown = Object.keys(body).find((name) => !KNOWN.has(name));
  return unknown === undefined ? undefined : invalid(`${unknown}: not passed on by this gateway`);
}

/** The same conversation as the gateway hands it on, so that one scenario and one set of checks serve both forms. */
export function messagesRequestOf(body: object): MessagesRequest {
  const { model, max_tokens = 4_096, messages, tools = [] } = body as ChatRequest;
  const turns: RequestMessage[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    // Tool results and what is said after them are one turn to the model.
    if (last?.role === role && role === 'user')
      turns[turns.length - 1] = {
        role,
        content: [...(last.content as RequestBlock[]), ...blocksIn(message)],
      };
    else turns.push({ role, content: blocksIn(message) });
  }
  return {
    model,
    max_tokens,
    system: messages.flatMap((each) => (each.role === 'system' ? [each.content ?? ''] : [])).join('\n'),
    tools: tools.map(({ function: { name, parameters } }) => ({ name, input_schema: parameters })),
    messages: turns,
  };
}

function blocksIn(message: ChatMessage): RequestBlock[] {
  if (message.role === 'tool')
    return [{ type: 'tool_result', tool_use_id: message.tool_call_id, content: message.content ?? '' }];
  const text = message.content ? [{ type: 'text', text: message.content }] : [];
  const calls = (message.tool_calls ?? []).map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.function.name,
    input: JSON.parse(call.function.arguments) as unknown,
  }));
  return [...text, ...calls];
}

const FINISH: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  refusal: 'content_filter',
};

/** Writes a reply as the chunks of a chat completion. */
export function renderChat(reply: ScriptedReply, context: RenderContext): RenderedMessage {
  const scripted = reply.blocks ?? [];
  const stop = reply.stop ?? stopOf(scripted);
  const size = reply.deltaChars ?? 12;
  const outputTokens = outputTokensOf(reply);
  const events: RenderedEvent[] = [chunk(context, { role: 'assistant', content: '' })];
  const content: RequestBlock[] = [];
  for (const [index, block] of scripted.entries()) {
    if ('redacted' in block || 'summary' in block) continue;
    if ('thinking' in block || 'text' in block) {
      const text = 'text' in block ? block.text : `<think>${block.thinking}</think>`;
      if ('text' in block) content.push({ type: 'text', text });
      for (const piece of pieces(text, size)) events.push(chunk(context, { content: piece }, piece));
      continue;
    }
    const id = block.id ?? context.toolUseId();
    const json = 'rawInput' in block ? block.rawInput : JSON.stringify(block.input);
    const call = { index: index - 1, id, type: 'function', function: { name: block.tool, arguments: '' } };
    events.push(chunk(context, { tool_calls: [call] }));
    for (const piece of pieces(json, size)) {
      const part = { index: index - 1, function: { arguments: piece } };
      events.push(chunk(context, { tool_calls: [part] }, piece));
    }
    content.push({
      type: 'tool_use',
      id,
      name: block.tool,
      input: 'rawInput' in block ? block.rawInput : block.input,
    });
  }
  const input = context.input.input_tokens + context.input.cache_creation_input_tokens;
  const usage = {
    prompt_tokens: input + context.input.cache_read_input_tokens,
    completion_tokens: outputTokens,
    total_tokens: input + context.input.cache_read_input_tokens + outputTokens,
    prompt_tokens_details: { cached_tokens: context.input.cache_read_input_tokens },
  };
  events.push(chunk(context, {}, '', FINISH[stop] ?? stop), data({ ...head(context), choices: [], usage }), {
    bytes: Buffer.from('data: [DONE]\n\n'),
    text: '',
  });
  return { events, content, stop, usage };
}

/** How this gateway says that something went wrong after it has answered 200. */
export function chatErrorEvent(type: string): string {
  return `data: ${JSON.stringify({ error: { message: type.replace('_error', '') } })}\n\n`;
}

function chunk(
  context: RenderContext,
  delta: object,
  text = '',
  finish: string | null = null,
): RenderedEvent {
  return data({ ...head(context), choices: [{ index: 0, delta, finish_reason: finish }] }, text);
}

const head = ({ model, messageId }: RenderContext) => ({
  id: messageId,
  object: 'chat.completion.chunk',
  created: 0,
  model,
});

function data(value: object, text = ''): RenderedEvent {
  return { bytes: Buffer.from(`data: ${JSON.stringify(value)}\n\n`), text };
}
