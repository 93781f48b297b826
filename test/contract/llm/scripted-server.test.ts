import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';

let claude: ScriptedClaude;
beforeEach(async () => {
  claude = await createScriptedClaude({
    scenario: () => ({
      blocks: [{ thinking: 'hm' }, { tool: 'look', input: { a: 1 } }, { tool: 'look', input: { a: 2 } }],
    }),
  });
});
afterEach(() => claude.close());

interface Block {
  type: string;
  [field: string]: unknown;
}

const USER = { role: 'user', content: 'x' };
const TOOLS = [{ name: 'look', input_schema: { type: 'object' } }];
const BASE = {
  model: 'claude-opus-5-5',
  max_tokens: 100,
  system: 's',
  tools: TOOLS,
  messages: [USER] as object[],
};

async function post(
  body: object,
  path = '/v1/messages',
  headers: object = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${claude.url}${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer k', 'anthropic-version': '2026-10-21', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** What a client holds after reading the first answer. */
async function firstAnswer(): Promise<Block[]> {
  const { text } = await post(BASE);
  const signature = /"signature":"(sig[^"]+)"/.exec(text)?.[1];
  const ids = [...text.matchAll(/"id":"(toolu_[^"]+)"/g)].map((match) => match[1]);
  return [
    { type: 'thinking', thinking: '', signature },
    { type: 'tool_use', id: ids[0], name: 'look', input: { a: 1 }, caller: { type: 'direct' } },
    { type: 'tool_use', id: ids[1], name: 'look', input: { a: 2 }, caller: { type: 'direct' } },
  ];
}

const results = (content: Block[]) => ({
  role: 'user',
  content: content
    .filter((block) => block.type === 'tool_use')
    .map((block) => ({ type: 'tool_result', tool_use_id: block['id'], content: 'r' })),
});

describe('the scripted Messages API', () => {
  it('accepts a history that only grew', async () => {
    const content = await firstAnswer();
    const body = { ...BASE, messages: [USER, { role: 'assistant', content }, results(content)] };
    expect((await post(body)).status).toBe(200);
    expect((await post({ ...body, max_tokens: 50, output_config: { effort: 'low' } })).status).toBe(200);
  });

  it.each<[string, (content: Block[]) => object, RegExp]>([
    ['changed system text', () => ({ system: 'other' }), /bound to a different conversation/],
    [
      'changed tools',
      () => ({ tools: [...TOOLS, { name: 'b', input_schema: { type: 'object' } }] }),
      /bound to/,
    ],
    [
      'changed first message',
      (content) => ({
        messages: [{ role: 'user', content: 'y' }, { role: 'assistant', content }, results(content)],
      }),
      /bound to a different conversation/,
    ],
    [
      'dropped thinking',
      (content) => ({ messages: [USER, { role: 'assistant', content: content.slice(1) }, results(content)] }),
      /never sent, or was changed/,
    ],
    [
      'changed tool input',
      (content) => {
        const changed = content.map((block) => (block.type === 'tool_use' ? { ...block, input: {} } : block));
        return { messages: [USER, { role: 'assistant', content: changed }, results(content)] };
      },
      /never sent, or was changed/,
    ],
    [
      'missing result',
      (content) => ({ messages: [USER, { role: 'assistant', content }, results(content.slice(0, 2))] }),
      /without `tool_result` blocks immediately after/,
    ],
    [
      'foreign result',
      (content) => {
        const foreign = { type: 'tool_result', tool_use_id: 'toolu_x', content: 'r' };
        const answers = results(content);
        return {
          messages: [
            USER,
            { role: 'assistant', content },
            { ...answers, content: [...answers.content, foreign] },
          ],
        };
      },
      /unexpected `tool_use_id`/,
    ],
    [
      'text before results',
      (content) => {
        const answers = results(content);
        const late = { ...answers, content: [{ type: 'text', text: 'hi' }, ...answers.content] };
        return { messages: [USER, { role: 'assistant', content }, late] };
      },
      /must come first/,
    ],
    [
      'prefill',
      (content) => ({ messages: [USER, { role: 'assistant', content: content.slice(0, 1) }] }),
      /prefill/,
    ],
    ['two user turns', () => ({ messages: [USER, USER] }), /alternate/],
    [
      'empty text',
      () => ({ messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] }),
      /non-empty/,
    ],
    ['temperature', () => ({ temperature: 1 }), /temperature/],
    ['forced tool', () => ({ tool_choice: { type: 'any' } }), /tool_choice/],
    ['disabled thinking', () => ({ thinking: { type: 'disabled' } }), /thinking/],
    ['budgeted thinking', () => ({ thinking: { type: 'enabled', budget_tokens: 2_000 } }), /thinking/],
    ['too many tokens', () => ({ max_tokens: 1_000_000 }), /max_tokens/],
    ['unknown parameter', () => ({ colour: 'red' }), /Extra inputs/],
  ])('refuses %s', async (_, change, message) => {
    const content = await firstAnswer();
    const grown = { ...BASE, messages: [USER, { role: 'assistant', content }, results(content)] };
    const { status, text } = await post({ ...grown, ...change(content) });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    expect(text).toMatch(message);
  });

  describe('sums up on demand', () => {
    const BETA = { 'anthropic-beta': 'compact-2026-09-04' };
    const ASKED = { ...BASE, compaction: { type: 'summarize', instructions: 'Keep ids.' } };
    const NEXT = { role: 'user', content: 'go on' };
    const send = (messages: object[], headers: object = BETA) =>
      post({ ...BASE, messages }, '/v1/messages', headers);

    async function summary(): Promise<Block> {
      const { status, text } = await post(ASKED, '/v1/messages', BETA);
      expect(status).toBe(200);
      expect(text).toContain('"stop_reason":"compaction"');
      expect(text).toMatch(/"input_tokens":0,[^]*"output_tokens":0,[^]*"iterations":\[\{"type":"compaction"/);
      expect(text).not.toContain('content_block_delta');
      const block = /"content_block":(\{"type":"compaction".*?\})\}/.exec(text)?.[1] ?? '';
      return JSON.parse(block) as Block;
    }
    const turn = (block: Block) => ({ role: 'assistant', content: [block] });

    it('and goes on from the block, also as the first block of a turn, and with the answer that came meanwhile', async () => {
      const block = await summary();
      expect((await send([turn(block), NEXT])).status).toBe(200);
      expect((await send([{ role: 'user', content: [block, { type: 'text', text: 'go on' }] }])).status).toBe(
        200,
      );
      const content = await firstAnswer();
      const kept = [{ role: 'assistant', content }, results(content)];
      expect((await send([turn(block), ...kept])).status).toBe(200);
      // Without the block the same turns have lost what they were an answer to.
      expect((await send([NEXT, ...kept])).status).toBe(400);
    });

    it.each<[string, (block: Block) => Promise<{ status: number; text: string }>, RegExp]>([
      [
        'a block without the beta',
        (block) => send([turn(block), NEXT], {}),
        /does not match any of the expected tags/,
      ],
      [
        'a changed block',
        (block) => send([turn({ ...block, content: 'else' }), NEXT]),
        /compaction_content_mismatch/,
      ],
      [
        'a block of somebody else',
        (block) => send([turn({ ...block, signature: 'x' }), NEXT]),
        /compaction_signature_invalid/,
      ],
      [
        'a block with more fields',
        (block) => send([turn({ ...block, citations: null }), NEXT]),
        /Extra inputs/,
      ],
      [
        'a block behind what it sums up',
        (block) => send([USER, turn(block), NEXT]),
        /compaction_block_misplaced/,
      ],
      ['two blocks', (block) => send([turn(block), NEXT, turn(block), NEXT]), /compaction_block_ambiguous/],
      ['a request without the beta', () => post(ASKED), /requires anthropic-beta/],
      [
        'another kind',
        () => post({ ...ASKED, compaction: { type: 'x' } }, '/v1/messages', BETA),
        /summarize/,
      ],
      [
        'a model that does not',
        () => post({ ...ASKED, model: 'claude-haiku-4-5' }, '/v1/messages', BETA),
        /not supported/,
      ],
      [
        'stop sequences',
        () => post({ ...ASKED, stop_sequences: ['x'] }, '/v1/messages', BETA),
        /cannot be combined/,
      ],
    ])('and refuses %s', async (_, ask, message) => {
      const { status, text } = await ask(await summary());
      expect(text).toMatch(message);
      expect(status).toBe(400);
    });

    it('and refuses a call that has no result yet', async () => {
      const content = await firstAnswer();
      const messages = [USER, { role: 'assistant', content }];
      expect((await post({ ...ASKED, messages }, '/v1/messages', BETA)).status).toBe(400);
    });

    it('and refuses turns that the block sums up behind it', async () => {
      const block = await summary();
      const content = await firstAnswer();
      const { status, text } = await send([
        turn(block),
        USER,
        { role: 'assistant', content },
        results(content),
      ]);
      expect(status).toBe(400);
      expect(text).toMatch(/bound to a different conversation/);
    });
  });

  it('asks for a key and knows its models', async () => {
    expect((await post(BASE, '/v1/messages', { authorization: '' })).status).toBe(401);
    expect((await post({ ...BASE, model: 'gpt' })).status).toBe(404);
    const info = await fetch(`${claude.url}/v1/models/claude-opus-5-5`);
    expect(await info.json()).toMatchObject({
      capabilities: { thinking: { types: { adaptive: { supported: true } } } },
    });
  });

  it('is steered over HTTP: a fault for the next request, a held stream released', async () => {
    await post({ kind: 'http', status: 529 }, '/control/fail');
    expect((await post(BASE)).status).toBe(529);
    await post({ kind: 'stall', afterBytes: 200 }, '/control/fail');
    const held = post(BASE);
    await claude.held();
    await post({}, '/control/release');
    expect((await held).text).toContain('message_stop');
  });
});
