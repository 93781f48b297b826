import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { toolResultTexts } from '../../../../playground/claude/scenario.ts';
import type { Durably } from '../../../../src/agents/loop/types.ts';
import { call, found, type LoopRig, startLoop } from './loop-rig.ts';

let rig: LoopRig;
afterEach(() => rig.claude.close());

const lastUserTurn = () => JSON.stringify(rig.claude.requests.at(-1)?.body.messages.at(-1));

describe('the loop', () => {
  it('runs the tools of a message at the same time and reports what the model made of them', async () => {
    rig = await startLoop([
      { blocks: [{ thinking: 'hm' }, { text: 'Looking.' }, call('pg_blocking'), call('pg_activity')] },
      (request) =>
        found({ pid: Number(/\d+/.exec(toolResultTexts(request)[0] ?? '')?.[0]), confidence: 0.9 }),
    ]);
    let running = 0;
    let most = 0;
    const outcome = await rig.run({
      callTool: async () => {
        most = Math.max(most, ++running);
        await sleep(30);
        running--;
        return { content: 'pid 4711', isError: false };
      },
    });
    expect(outcome).toMatchObject({ kind: 'finished', report: { pid: 4711 }, text: 'Looking.' });
    expect(most).toBe(2);
    expect(outcome.spent).toMatchObject({ turns: 2, toolCalls: 2 });
    expect(outcome.spent.usd).toBeGreaterThan(0);
    expect(rig.claude.requests.every((request) => request.problem === undefined)).toBe(true);
  });

  it('reads nine tenths of its input from the cache over twelve turns', async () => {
    rig = await startLoop([
      ...Array.from({ length: 11 }, (_, turn) => ({
        blocks: [{ thinking: 'on' }, ...[1, 2, 3, 4].map((n) => call('pg_activity', { page: turn * 4 + n }))],
      })),
      found(),
    ]);
    const content = 'x'.repeat(400);
    const outcome = await rig.run({
      system: 'rule '.repeat(3_600),
      callTool: async () => ({ content, isError: false }),
    });
    expect(outcome).toMatchObject({ kind: 'finished', spent: { turns: 12, toolCalls: 44 } });
    const later = rig.claude.requests.slice(1).map((request) => request.usage as Record<string, number>);
    const read = later.reduce((sum, usage) => sum + (usage['cache_read_input_tokens'] ?? 0), 0);
    const all = later.reduce(
      (sum, usage) => sum + (usage['input_tokens'] ?? 0) + (usage['cache_creation_input_tokens'] ?? 0),
      read,
    );
    expect(read / all).toBeGreaterThan(0.9);
    expect(later.every((usage) => usage['input_tokens'] === 0)).toBe(true);
  });

  it('finds all that it sent before in the cache, also after more calls at once than the API looks back over', async () => {
    const many = Array.from({ length: 14 }, (_, n) => call('pg_activity', { n }));
    rig = await startLoop([{ blocks: many }, { blocks: [call('pg_blocking')] }, found()]);
    // Long enough for a cache to take it.
    await rig.run({ system: 'rule '.repeat(1_000) });
    const [, second, third] = rig.claude.requests.map(({ usage }) => usage as Record<string, number>);
    const total = (usage: Record<string, number> | undefined) =>
      (usage?.['cache_read_input_tokens'] ?? 0) + (usage?.['cache_creation_input_tokens'] ?? 0);
    expect(third?.['cache_read_input_tokens']).toBe(total(second));
    expect(second?.['cache_read_input_tokens']).toBe(total(rig.claude.requests[0]?.usage as never));
  });

  it('never runs the tools of a message cut by max_tokens, but asks again with more room', async () => {
    rig = await startLoop([
      { blocks: [{ text: 'I ' }, { tool: 'pg_blocking', rawInput: '{"pid": 47' }], stop: 'max_tokens' },
      found(),
    ]);
    expect(await rig.run()).toMatchObject({ kind: 'finished', report: { pid: 4711 } });
    expect(rig.calls).toEqual([]);
    expect(rig.claude.requests.map((request) => request.body.max_tokens)).toEqual([1_000, 2_000]);
    expect(rig.claude.requests[1]?.body.messages).toEqual(rig.claude.requests[0]?.body.messages);
    expect(rig.events).toContainEqual({ type: 'withdrawn' });
  });

  it('ends when the model refuses, with the reason', async () => {
    rig = await startLoop([
      { blocks: [{ text: 'I' }], stop: 'refusal', stopDetails: { category: 'cyber', explanation: 'no' } },
    ]);
    expect(await rig.run()).toMatchObject({ kind: 'refused', category: 'cyber', explanation: 'no' });
    expect(rig.events.at(-1)).toEqual({ type: 'withdrawn' });
  });

  it('goes on after a pause', async () => {
    rig = await startLoop([{ blocks: [{ text: 'Wait.' }], stop: 'pause_turn' }, found()]);
    expect((await rig.run()).kind).toBe('finished');
  });

  it.each([
    [
      'a message says that the context is full',
      { blocks: [{ text: 'x' }], stop: 'model_context_window_exceeded' },
    ],
    [
      'the API does',
      { fault: { kind: 'http', status: 400, message: 'prompt is too long: 9 tokens > 8 maximum' } },
    ],
  ] as const)('goes on from a summary with the ids of its evidence when %s', async (_, full) => {
    rig = await startLoop([
      { blocks: [{ thinking: 'hm' }, { text: 'Locks first.' }, call('pg_blocking')] },
      full,
      found(),
    ]);
    const content = JSON.stringify({ tool_call_id: 'tc_1', output: 'pid 4711 '.repeat(900) });
    const outcome = await rig.run({ callTool: async () => ({ content, isError: false }) });
    expect(outcome).toMatchObject({ kind: 'finished', report: { pid: 4711 } });
    const last = rig.claude.requests.at(-1)?.body.messages ?? [];
    expect(last).toHaveLength(1);
    const text = JSON.stringify(last);
    expect(text).toContain('Eight sessions wait.');
    expect(text).toContain('tc_1');
    expect(text).toContain('Locks first.');
    expect(text.length).toBeLessThan(5_000);
  });

  it('begins anew from a summary before the history grows too long, twice at most', async () => {
    let n = 0;
    rig = await startLoop(() => (n < 8 ? { blocks: [call('pg_activity', { n: n++ })] } : found()));
    const content = 'x'.repeat(8_000);
    const run = { compactAtTokens: 4_000, callTool: async () => ({ content, isError: false }) };
    expect((await rig.run(run)).kind).toBe('finished');
    const lengths = rig.claude.requests.map(({ body }) => body.messages.length);
    expect(lengths.filter((length) => length === 1)).toHaveLength(3);
    expect(rig.claude.requests.filter(({ problem }) => problem)).toEqual([]);
  });

  it('ends when the context is full, whether a message or the API says so', async () => {
    rig = await startLoop([{ blocks: [{ text: 'x' }], stop: 'model_context_window_exceeded' }]);
    expect(await rig.run()).toMatchObject({ kind: 'limit', limit: 'context' });
    rig.claude.failNext({ kind: 'http', status: 400, message: 'prompt is too long: 9 tokens > 8 maximum' });
    expect(await rig.run()).toMatchObject({ kind: 'limit', limit: 'context' });
  });

  it('fails when the model stays silent, unreachable or says nothing it could act on', async () => {
    rig = await startLoop(() => ({ blocks: [] }));
    expect(await rig.run()).toMatchObject({ kind: 'failed', error: { code: 'AGENT_EMPTY' } });
    rig.claude.play(() => ({ blocks: [{ text: 'I am done.' }] }));
    expect(await rig.run()).toMatchObject({ kind: 'failed', error: { code: 'AGENT_NO_REPORT' } });
    rig.claude.play(() => ({ fault: { kind: 'http', status: 529 } }));
    expect(await rig.run()).toMatchObject({ kind: 'failed', error: { code: 'LLM_OVERLOADED' } });
    rig.claude.play(() => ({ blocks: [{ tool: 'pg_blocking', rawInput: '<<<' }] }));
    expect(await rig.run()).toMatchObject({
      kind: 'failed',
      error: { code: expect.stringMatching(/^LLM_(BAD_OUTPUT|STREAM_BROKEN)$/) },
    });
    expect(rig.calls).toEqual([]);
  });
});

describe('reports', () => {
  it('go back to the model with what is wrong, and count once corrected', async () => {
    rig = await startLoop([found({ pid: 'many', confidence: 7 }), found()]);
    expect(await rig.run()).toMatchObject({ kind: 'finished', report: { pid: 4711, confidence: 0.9 } });
    expect(lastUserTurn()).toContain('is_error');
    expect(lastUserTurn()).toMatch(/pid[\s\S]*confidence|confidence[\s\S]*pid/);
  });

  it('are given up after three tries', async () => {
    rig = await startLoop(() => found({}));
    expect(await rig.run()).toMatchObject({ kind: 'failed', error: { code: 'AGENT_BAD_REPORT' } });
    expect(rig.claude.requests).toHaveLength(3);
  });

  it('count when they are written as text instead', async () => {
    rig = await startLoop([{ blocks: [{ text: '```json\n{"pid": 4711, "confidence": 0.5}\n```' }] }]);
    expect(await rig.run()).toMatchObject({ kind: 'finished', report: { pid: 4711 } });
  });

  it('end the loop without running the other calls of their message', async () => {
    rig = await startLoop([{ blocks: [call('pg_blocking'), ...found().blocks] }]);
    expect((await rig.run()).kind).toBe('finished');
    expect(rig.calls).toEqual([]);
  });
});

describe('calls', () => {
  it('that repeat an earlier one are answered from it and told so', async () => {
    rig = await startLoop([
      { blocks: [call('pg_blocking', { a: 1, b: 2 }), call('pg_blocking', { b: 2, a: 1 })] },
      { blocks: [call('pg_blocking', { a: 1, b: 2 }), call('pg_activity')] },
      found(),
    ]);
    await rig.run();
    expect(rig.calls).toHaveLength(2);
    expect(lastUserTurn()).toContain('not run again');
  });

  it('that failed may be tried again, and three turns without news end the loop', async () => {
    rig = await startLoop(() => ({ blocks: [call('pg_blocking')] }));
    const callTool = async () => ({ content: 'no such target', isError: true });
    expect(await rig.run({ callTool })).toMatchObject({ kind: 'limit', limit: 'no_progress' });
    expect(rig.calls).toHaveLength(3);
    expect(lastUserTurn()).toContain('last turn');
  });

  it('whose answer is final end the loop and hand it back', async () => {
    rig = await startLoop([{ blocks: [call('pg_terminate', { pid: 1 })] }]);
    const callTool = async () => ({ content: 'proposed', isError: false, final: 'act_1' });
    expect(await rig.run({ callTool })).toMatchObject({
      kind: 'finished',
      report: undefined,
      final: 'act_1',
    });
  });

  describe('as one request', () => {
    const [end, vacuum] = [call('pg_terminate', { pid: 1 }), call('pg_vacuum', { table: 'orders' })];

    it('are asked for once, in their order, each call with its own result', async () => {
      rig = await startLoop([{ blocks: [end, vacuum, end] }, found()]);
      const asked: unknown[] = [];
      await rig.run({
        callTogether: async (calls) => {
          asked.push(calls.map(({ name, input }) => ({ name, input })));
          return { content: 'step 2 is refused', isError: true };
        },
      });
      expect(asked).toEqual([
        [
          { name: 'pg_terminate', input: { pid: 1 } },
          { name: 'pg_vacuum', input: { table: 'orders' } },
        ],
      ]);
      expect(rig.calls).toEqual([]);
      const results = JSON.parse(lastUserTurn()).content as { type: string; tool_use_id: string }[];
      const told = results.filter(({ type }) => type === 'tool_result');
      expect(new Set(told.map(({ tool_use_id: id }) => id)).size).toBe(3);
      const shown = told.map(
        (result) => /Step (\d) of 2 .*step 2 is refused/.exec(JSON.stringify(result))?.[1],
      );
      expect(shown).toEqual(['1', '2', '1']);
    });

    it('end the loop when their one answer is final, and are not asked for again after a crash', async () => {
      rig = await startLoop([{ blocks: [end, vacuum] }]);
      const journal = new Map<string, unknown>();
      const durably: Durably = async <T>(name: string, fn: () => Promise<T>) => {
        if (!journal.has(name)) journal.set(name, JSON.parse(JSON.stringify(await fn())));
        return journal.get(name) as T;
      };
      let asked = 0;
      const callTogether = async () => {
        asked += 1;
        return { content: 'proposed', isError: false, final: 'act_1' };
      };
      for (const _ of ['before', 'after'])
        expect(await rig.run({ callTogether, durably })).toMatchObject({ kind: 'finished', final: 'act_1' });
      expect(asked).toBe(1);
    });
  });
});

describe('limits', () => {
  const busy = () => {
    let n = 0;
    return () => ({ blocks: [call('pg_activity', { n: n++ })] });
  };

  it.each([
    [{ turns: 3 }, 'turns'],
    [{ toolCalls: 2 }, 'toolCalls'],
    [{ tokens: 300 }, 'tokens'],
    [{ usd: 0.0001 }, 'usd'],
  ] as const)('%o ends it', async (limits, limit) => {
    rig = await startLoop(busy());
    expect(await rig.run({ limits })).toMatchObject({ kind: 'limit', limit });
  });

  it('on time end it, in the middle of a message too', async () => {
    rig = await startLoop([{ blocks: [{ text: 'slow '.repeat(99) }], eventDelayMs: 50 }]);
    expect(await rig.run({ limits: { wallMs: 300 } })).toMatchObject({ kind: 'limit', limit: 'wallMs' });
  });

  it.each([{ toolCalls: 1 }, { tokens: 100 }, { usd: 0.0001 }])(
    '%o leaves the model one message to say what is known, and runs nothing more',
    async (limits) => {
      rig = await startLoop([{ blocks: [call('pg_activity')] }, found()]);
      expect(await rig.run({ limits })).toMatchObject({ kind: 'finished', report: { pid: 4711 } });
      expect(lastUserTurn()).toContain('last turn');
      rig.claude.play(busy());
      expect((await rig.run({ limits })).kind).toBe('limit');
      expect(rig.calls).toHaveLength(2);
    },
  );

  it('warn the model before its last turn', async () => {
    rig = await startLoop(busy());
    await rig.run({ limits: { turns: 3 } });
    expect(lastUserTurn()).toContain('last turn');
    expect(JSON.stringify(rig.claude.requests[1]?.body)).not.toContain('last turn');
  });
});

describe('people', () => {
  it('stop it at once, even when a tool does not listen', async () => {
    rig = await startLoop([{ blocks: [call('pg_blocking')] }]);
    const controller = new AbortController();
    const outcome = await rig.run({
      signal: controller.signal,
      callTool: () => {
        controller.abort();
        return new Promise(() => undefined);
      },
    });
    expect(outcome.kind).toBe('aborted');
  });

  it('stop it in the middle of a message', async () => {
    rig = await startLoop([{ blocks: [{ text: 'half of it' }], holdBefore: 'of it' }]);
    const controller = new AbortController();
    const outcome = rig.run({ signal: controller.signal });
    await rig.claude.held();
    controller.abort();
    expect((await outcome).kind).toBe('aborted');
  });

  it('give hints that stand after the tool results of the next user turn', async () => {
    rig = await startLoop([{ blocks: [call('pg_blocking')] }, found()]);
    const said = [
      { seq: 7, text: 'look at billing' },
      { seq: 9, text: 'and at stock' },
    ];
    await rig.run({ takeHints: async (after) => said.filter(({ seq }) => seq > after) });
    const content = rig.claude.requests[1]?.body.messages.at(-1)?.content as {
      type: string;
      text?: string;
    }[];
    expect(content.map((block) => block.type)).toEqual(['tool_result', 'text', 'text']);
    expect(content[1]?.text).toBe('look at billing');
  });
});

describe('after a crash', () => {
  it('nothing is asked or run twice, and the end is the same', async () => {
    const script = [
      { blocks: [call('pg_blocking'), call('pg_activity')] },
      { blocks: [call('pg_activity', { n: 2 })] },
      found(),
    ];
    const recorded = new Map<string, string>();
    let left = Number.POSITIVE_INFINITY;
    const durably: Durably = async (name, fn) => {
      const known = recorded.get(name);
      if (known !== undefined) return JSON.parse(known) as never;
      if (left-- <= 0) throw new Error('killed');
      const value = await fn();
      recorded.set(name, JSON.stringify(value));
      return value;
    };
    rig = await startLoop(script);
    const undisturbed = await rig.run();
    rig.claude.play(script);
    rig.calls.length = 0;
    const before = rig.claude.requests.length;
    for (let crash = 0; crash < 5; crash++) {
      left = 1;
      await rig.run({ durably }).catch((error: unknown) => expect(String(error)).toContain('killed'));
    }
    left = Number.POSITIVE_INFINITY;
    const resumed = await rig.run({ durably });
    expect(resumed).toMatchObject({ kind: 'finished', report: { pid: 4711 } });
    expect(resumed.spent.turns).toBe(undisturbed.spent.turns);
    expect(rig.calls).toHaveLength(3);
    expect(rig.claude.requests.length - before).toBe(3);
  });
});

describe('faults anywhere in a stream', () => {
  it('never run a tool of an unfinished message, and always come to an end', async () => {
    const half = { blocks: [{ text: 'I look.' }, call('pg_blocking', { from: 'unfinished' })] };
    const kinds = ['cut', 'eof', 'garbage', 'error_event'] as const;
    rig = await startLoop([]);
    for (const kind of kinds) {
      // Up to the delta that says how the message ended: from there on the message is whole.
      for (let afterBytes = 0; afterBytes < 1_100; afterBytes += 83) {
        let asked = 0;
        rig.claude.play(() => (asked++ < 4 ? { ...half, fault: { kind, afterBytes } } : found()));
        const outcome = await rig.run();
        expect(outcome.kind, `${kind} after ${afterBytes} bytes`).toBe('failed');
      }
    }
    expect(rig.calls).toEqual([]);
  }, 60_000);
});
