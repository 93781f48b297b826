import { afterEach, describe, expect, it } from 'vitest';
import type { ModelTurn } from '../../../src/llm/types.ts';
import { QUESTION, REQUEST, type Rig, startRig, textOf, WAYS, type Way } from './support.ts';

let rig: Rig;
afterEach(() => rig.claude.close());

const TWO_CALLS = {
  blocks: [
    { thinking: 'Locks, probably. 🔒' },
    { text: 'Looking at locks – „zuerst“ 🔍.' },
    { tool: 'pg_blocking', input: { limit: 5 } },
    { tool: 'pg_blocking', input: { limit: 9, note: 'ünïcode 🐘' } },
  ],
} as const;

describe.each(WAYS)('a message over $name', (way) => {
  it('arrives whole, with thinking, text and parallel tool calls, however the bytes are torn', async () => {
    for (const writeBytes of way.name === 'the direct API' ? [1, 7, 64] : [7]) {
      rig = await startRig([{ ...TWO_CALLS, writeBytes, deltaChars: 3 }], { way });
      const message = await rig.ask();
      expect(message.stop).toEqual({ kind: 'tool_use' });
      expect(message.text).toBe('Looking at locks – „zuerst“ 🔍.');
      expect(message.toolUses.map((use) => use.input)).toEqual([
        { limit: 5 },
        { limit: 9, note: 'ünïcode 🐘' },
      ]);
      expect(message.content.map((block) => block.type)).toEqual([
        ...(way.whole ? ['thinking'] : []),
        'text',
        'tool_use',
        'tool_use',
      ]);
      if (way.whole) expect(message.content[0]?.['signature']).toMatch(/^sig\./);
      expect(rig.events.some((event) => event.type === 'thinking')).toBe(true);
      expect(textOf(rig.events)).toBe(message.text);
      expect(rig.events).toContainEqual({ type: 'tool_use_started', name: 'pg_blocking' });
      await rig.claude.close();
    }
  });

  it('is echoed so that the server accepts its thinking in the next turn, from the cache', async () => {
    rig = await startRig([TWO_CALLS, { blocks: [{ text: 'pid 7' }] }], { way });
    const first = await rig.ask({ system: 'You investigate. '.repeat(400) });
    const stored = JSON.parse(JSON.stringify(first)) as typeof first;
    const results: ModelTurn = {
      role: 'user',
      content: stored.toolUses.map((use) => ({ type: 'tool_result', tool_use_id: use.id, content: 'none' })),
    };
    const second = await rig.ask({
      system: 'You investigate. '.repeat(400),
      messages: [QUESTION, { role: 'assistant', content: stored.content }, results],
    });
    expect(second.text).toBe('pid 7');
    if (!way.whole) return;
    expect(first.usage.cacheRead).toBe(0);
    expect(second.usage.cacheRead).toBeGreaterThan(800);
    expect(second.usage.input).toBe(0);
    expect(second.usd).toBeLessThan(first.usd ?? 0);
    expect(rig.tries.filter((request) => request.problem)).toEqual([]);
  });

  it('counts dollars from the usage of the final delta, at list price', async () => {
    rig = await startRig([{ blocks: [{ text: 'ok' }], outputTokens: 1_000 }], { way });
    const { usage, usd } = await rig.ask();
    expect(usage.output).toBe(1_000);
    expect(usage.input + usage.cacheWrite5m).toBeGreaterThan(20);
    expect(usd).toBeCloseTo((usage.input * 4 + usage.cacheWrite5m * 5 + 1_000 * 20) / 1e6, 10);
  });

  it('shows the first half while the server holds the second', async () => {
    rig = await startRig(
      [{ blocks: [{ text: 'The blocker is the session of billing.' }], holdBefore: 'billing' }],
      { way },
    );
    const asked = rig.ask();
    await rig.claude.held();
    await expect.poll(() => textOf(rig.events)).toMatch(/^The blocker is/);
    expect(textOf(rig.events)).not.toContain('billing');
    rig.claude.release();
    expect((await asked).text).toBe('The blocker is the session of billing.');
  });

  it.each([
    ['max_tokens', { kind: 'max_tokens' }],
    ['pause_turn', { kind: 'pause_turn' }],
    ['model_context_window_exceeded', { kind: 'context_exceeded' }],
    ['stop_sequence', { kind: 'end_turn' }],
  ] as const)('names the stop reason %s', async (stop, expected) => {
    const told = way.whole || stop === 'max_tokens' || stop === 'stop_sequence';
    rig = await startRig([{ blocks: [{ text: 'so far' }], stop }], { way });
    expect((await rig.ask()).stop).toEqual(told ? expected : { kind: 'unknown', reason: stop });
  });

  it('carries why the model refused', async () => {
    const stopDetails = { category: 'cyber', explanation: 'No.' };
    rig = await startRig([{ stop: 'refusal', stopDetails }], { way });
    const given = way.whole ? stopDetails : { category: null, explanation: null };
    expect((await rig.ask()).stop).toEqual({ kind: 'refusal', ...given });
  });

  it('hands an empty answer over as empty', async () => {
    rig = await startRig([{ blocks: [] }], { way });
    expect(await rig.ask()).toMatchObject({ text: '', content: [], stop: { kind: 'end_turn' } });
  });
});

/** Bedrock has no such thing, and neither have chat completions. */
const summarises = (way: Way): boolean => way.whole && way.server.bedrock === undefined;

describe.each(WAYS.filter(summarises))('a summary over $name', (way) => {
  const compaction = { instructions: 'Keep the ids.' };

  it('comes as one block that is sent back as it came', async () => {
    rig = await startRig([{ blocks: [{ text: 'pid 7' }] }], { way });
    const summary = await rig.ask({ compaction });
    expect(summary).toMatchObject({ stop: { kind: 'compaction' }, text: '', toolUses: [] });
    expect(summary.content.map(({ type }) => type)).toEqual(['compaction']);
    expect(summary.usage.input + summary.usage.cacheWrite5m).toBeGreaterThan(20);
    expect(summary.usd).toBeGreaterThan(0);
    expect(rig.events).toEqual([]);
    const { content } = JSON.parse(JSON.stringify(summary)) as typeof summary;
    const after = await rig.ask({ messages: [{ role: 'assistant', content }, QUESTION] });
    expect(after.text).toBe('pid 7');
    expect(rig.tries.filter(({ problem }) => problem)).toEqual([]);
  });

  it('may be silent for long, since it comes whole at its end', async () => {
    const summary = () => ({ blocks: [{ summary: 'It is billing.' }], eventDelayMs: 150 });
    rig = await startRig([], { way: { ...way, server: { ...way.server, summary } }, idleMs: 100 });
    expect((await rig.ask({ compaction })).content[0]?.['content']).toBe('It is billing.');
    expect(rig.tries).toHaveLength(1);
  });

  it('is asked for again after a fault, with the identical body', async () => {
    rig = await startRig([], { way });
    rig.claude.failNext({ kind: 'http', status: 529 }, { kind: 'error_event', afterBytes: 900 });
    expect((await rig.ask({ compaction })).stop).toEqual({ kind: 'compaction' });
    expect(rig.tries).toHaveLength(3);
    expect(new Set(rig.tries.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });
});

it.each(WAYS.filter((way) => !summarises(way)))('no summary is asked for over $name', async (way) => {
  rig = await startRig([], { way });
  const asked = rig.ask({ compaction: { instructions: 'Keep the ids.' } });
  await expect(asked).rejects.toMatchObject({ code: 'LLM_NO_COMPACTION', retryable: false });
  expect(rig.tries).toEqual([]);
});

describe('parameters', () => {
  it('sends adaptive thinking, effort and no refused parameter to a model that has them', async () => {
    rig = await startRig([{ blocks: [{ text: 'ok' }] }]);
    await rig.ask({ effort: 'xhigh', maxTokens: 999_999 });
    const body = rig.claude.requests[0]?.body;
    expect(body).toMatchObject({
      model: 'claude-opus-5-5',
      max_tokens: 128_000,
      stream: true,
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'xhigh' },
    });
    expect(Object.keys(body ?? {})).not.toEqual(
      expect.arrayContaining(['temperature', 'top_p', 'top_k', 'tool_choice']),
    );
  });

  it('never sends what the gateway would make refused parameters of', async () => {
    const way = WAYS.find((each) => !each.whole);
    if (!way) throw new Error('no reduced way');
    rig = await startRig([{ blocks: [{ text: 'ok' }] }], { way });
    const sent: string[] = [];
    const real = globalThis.fetch;
    globalThis.fetch = (url, init) => {
      sent.push(String(init?.body));
      return real(url, init);
    };
    try {
      await rig.ask({ effort: 'xhigh' });
    } finally {
      globalThis.fetch = real;
    }
    expect(Object.keys(JSON.parse(sent[0] ?? '{}') as object).toSorted()).toEqual([
      'max_tokens',
      'messages',
      'model',
      'stream',
      'stream_options',
      'tools',
    ]);
  });

  it('asks an older model for neither thinking nor effort', async () => {
    rig = await startRig([{ blocks: [{ text: 'ok' }] }], { model: 'claude-haiku-4-5' });
    await rig.ask();
    expect(rig.claude.requests[0]?.body['thinking']).toBeUndefined();
    expect(rig.claude.requests[0]?.body['output_config']).toBeUndefined();
    expect(rig.claude.requests[0]?.body.max_tokens).toBe(4_000);
  });

  it.each(WAYS)('counts the tokens of a request over $name', async (way) => {
    rig = await startRig([], { way });
    const backend = way.client(rig.claude.url, {});
    const request = { ...REQUEST, model: way.model };
    const signal = new AbortController().signal;
    const short = await backend.countTokens(request, signal);
    const long = await backend.countTokens({ ...request, system: 'x'.repeat(4_000) }, signal);
    expect(long - short).toBeGreaterThan(900);
  });
});
