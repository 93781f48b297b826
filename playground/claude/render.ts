import type { InputUsage } from './prompt-cache.ts';
import type { RequestBlock, ScriptedBlock, ScriptedReply, StopReason } from './scenario.ts';

/** One SSE event and, for deltas, the text it carries (what `holdBefore` looks for). */
export interface RenderedEvent {
  readonly bytes: Buffer;
  readonly text: string;
}

export interface RenderedMessage {
  readonly events: readonly RenderedEvent[];
  /** The content as the client will hold it and must echo it. */
  readonly content: readonly RequestBlock[];
  readonly stop: StopReason;
  readonly usage: object;
}

export interface RenderContext {
  readonly model: string;
  readonly messageId: string;
  readonly input: InputUsage;
  /** `thinking.display: 'summarized'` was asked for; else thinking text is left out, as the newer models do. */
  readonly showThinking: boolean;
  sign(): string;
  /** Only where a summary was asked for: what that used stands in `iterations` alone. */
  readonly signSummary?: (content: string) => string;
  toolUseId(): string;
}

/** Writes a reply as the event stream of the Messages API. */
export function renderMessage(reply: ScriptedReply, context: RenderContext): RenderedMessage {
  const scripted = reply.blocks ?? [];
  const stop = reply.stop ?? stopOf(scripted);
  const outputTokens = outputTokensOf(reply);
  const used = inputUsage(context.input);
  const usage = {
    ...(context.signSummary ? inputUsage(NOTHING) : used),
    server_tool_use: null,
    service_tier: 'standard',
  };
  const final = {
    ...usage,
    output_tokens: context.signSummary ? 0 : outputTokens,
    output_tokens_details: { thinking_tokens: thinkingTokens(scripted) },
    ...(context.signSummary
      ? { iterations: [{ type: 'compaction', ...used, output_tokens: outputTokens }] }
      : {}),
  };
  const content: RequestBlock[] = [];
  const events: RenderedEvent[] = [
    event('message_start', {
      message: {
        id: context.messageId,
        type: 'message',
        role: 'assistant',
        model: context.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        diagnostics: null,
        usage: { ...usage, output_tokens: context.signSummary ? 0 : 1, output_tokens_details: null },
      },
    }),
    event('ping', {}),
  ];
  for (const [index, block] of scripted.entries()) {
    const shown = renderBlock(block, context, reply.deltaChars ?? 12);
    content.push(shown.echo);
    events.push(event('content_block_start', { index, content_block: shown.start }));
    for (const delta of shown.deltas)
      events.push(event('content_block_delta', { index, delta }, textOf(delta)));
    if (index === 0) events.push(event('ping', {}));
    events.push(event('content_block_stop', { index }));
  }
  const details = reply.stopDetails === undefined ? null : { type: 'refusal', ...reply.stopDetails };
  events.push(
    event('message_delta', {
      delta: { stop_reason: stop, stop_sequence: null, stop_details: details, container: null },
      usage: final,
    }),
    event('message_stop', {}),
  );
  return { events, content, stop, usage: final };
}

/** As many as a reply says, or about as many as its words come to. */
export function outputTokensOf({ blocks = [], outputTokens }: ScriptedReply): number {
  return outputTokens ?? Math.max(1, Math.ceil(JSON.stringify(blocks).length / 4));
}

/** Why a reply stops, unless it says so itself. */
export function stopOf(blocks: readonly ScriptedBlock[]): StopReason {
  if (blocks.some((block) => 'summary' in block)) return 'compaction';
  return blocks.some((block) => 'tool' in block) ? 'tool_use' : 'end_turn';
}

const NOTHING: InputUsage = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

function inputUsage(input: InputUsage): object {
  return {
    ...input,
    cache_creation: {
      ephemeral_5m_input_tokens: input.cache_creation_input_tokens,
      ephemeral_1h_input_tokens: 0,
    },
  };
}

function thinkingTokens(blocks: readonly ScriptedBlock[]): number {
  return blocks.reduce(
    (sum, block) => sum + ('thinking' in block ? Math.ceil(block.thinking.length / 4) : 0),
    0,
  );
}

function renderBlock(
  block: ScriptedBlock,
  context: RenderContext,
  size: number,
): { start: object; deltas: Record<string, string>[]; echo: RequestBlock } {
  if ('thinking' in block) {
    const thinking = context.showThinking ? block.thinking : '';
    const signature = context.sign();
    return {
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...pieces(thinking, size).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
        { type: 'signature_delta', signature },
      ],
      echo: { type: 'thinking', thinking, signature },
    };
  }
  if ('redacted' in block) {
    const echo = { type: 'redacted_thinking', data: context.sign() };
    return { start: echo, deltas: [], echo };
  }
  if ('summary' in block) {
    // It arrives whole, in the event that begins it.
    const echo = {
      type: 'compaction',
      content: block.summary,
      signature: context.signSummary?.(block.summary),
    };
    return { start: echo, deltas: [], echo };
  }
  if ('text' in block) {
    return {
      start: { type: 'text', text: '', citations: null },
      deltas: pieces(block.text, size).map((text) => ({ type: 'text_delta', text })),
      echo: { type: 'text', text: block.text },
    };
  }
  const id = block.id ?? context.toolUseId();
  const call = { type: 'tool_use', id, name: block.tool, input: {}, caller: { type: 'direct' } };
  const json = 'rawInput' in block ? block.rawInput : JSON.stringify(block.input);
  return {
    start: call,
    deltas: ['', ...pieces(json, size)].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    echo: { ...call, input: 'rawInput' in block ? block.rawInput : block.input },
  };
}

function textOf(delta: Record<string, string>): string {
  return delta['text'] ?? delta['thinking'] ?? delta['partial_json'] ?? '';
}

/** Cuts by UTF-16 unit on purpose: surrogate pairs come apart, as they may in a real stream of JSON strings. */
export function pieces(text: string, size: number): string[] {
  const all: string[] = [];
  for (let at = 0; at < text.length; at += size) all.push(text.slice(at, at + size));
  return all;
}

function event(type: string, fields: object, text = ''): RenderedEvent {
  return { bytes: Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`), text };
}
