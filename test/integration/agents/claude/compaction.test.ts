import { afterEach, describe, expect, it } from 'vitest';
import type { ScriptedReply } from '../../../../playground/claude/scenario.ts';
import type { RecordedRequest } from '../../../../playground/claude/scripted-claude.ts';
import type { Durably, LoopOptions } from '../../../../src/agents/loop/types.ts';
import { priceOf } from '../../../../src/llm/pricing.ts';
import { call, type Found, found, type LoopRig, startLoop } from './loop-rig.ts';

let rig: LoopRig;
let other: LoopRig | undefined;
afterEach(async () => {
  await rig.claude.close();
  await other?.claude.close();
  other = undefined;
});

const INSTRUCTIONS = 'Keep every tool_call_id. Call no tool.';

/** Reads whose answers are long, so that the history grows by some 2,000 tokens a turn. */
function growing(maxTurns: number) {
  let turn = 0;
  return (): ScriptedReply => {
    turn += 1;
    return turn > maxTurns
      ? found()
      : { blocks: [{ thinking: 'on' }, { text: `Turn ${turn}.` }, call('pg_activity', { page: turn })] };
  };
}

function options(more: Partial<LoopOptions<Found>> = {}): Partial<LoopOptions<Found>> {
  let calls = 0;
  return {
    compaction: INSTRUCTIONS,
    compactAtTokens: 6_000,
    callTool: async () => {
      calls += 1;
      const content = JSON.stringify({
        tool_call_id: `tc_${calls}`,
        output: `pid ${calls} `.padEnd(8_000, 'x'),
      });
      return { content, isError: false, recordedAs: `tc_${calls}` };
    },
    ...more,
  };
}

const asksForSummary = ({ body }: RecordedRequest): boolean => body['compaction'] !== undefined;
const summaries = (from: LoopRig = rig) => from.claude.requests.filter(asksForSummary);
const refused = (from: LoopRig = rig) => from.claude.requests.filter(({ problem }) => problem);
/** The first request after the last summary was asked for. */
const next = (from: LoopRig = rig) =>
  from.claude.requests[from.claude.requests.findLastIndex(asksForSummary) + 1];

/** By the price table, from what the server wrote down: totals, and what stands in `iterations` alone. */
function charged(requests: readonly RecordedRequest[]): number {
  return requests.reduce((sum, { usage, body }) => {
    const price = priceOf(body.model);
    if (!usage || !price) return sum;
    const passes = [usage, ...((usage['iterations'] as Record<string, unknown>[] | undefined) ?? [])];
    return passes.reduce((inner, pass) => {
      const tokens = (name: string) => Number(pass[name] ?? 0);
      return (
        inner +
        (tokens('input_tokens') * price.input +
          tokens('cache_creation_input_tokens') * price.cacheWrite5m +
          tokens('cache_read_input_tokens') * price.cacheRead +
          tokens('output_tokens') * price.output) /
          1e6
      );
    }, sum);
  }, 0);
}

describe('a history that grows too long, where the server sums it up', () => {
  it('goes on from the block as it came, with the last answer and its results word for word', async () => {
    rig = await startLoop(growing(5), {
      summary: () => ({ blocks: [{ summary: 'Page 1 shows pid 1 (tc_1).' }] }),
    });
    const outcome = await rig.run(options());
    expect(outcome).toMatchObject({ kind: 'finished', report: { pid: 4711 }, spent: { turns: 6 } });
    expect(refused()).toEqual([]);
    const [asked] = summaries();
    expect(summaries()).toHaveLength(1);
    expect(asked?.body['compaction']).toEqual({ type: 'summarize', instructions: INSTRUCTIONS });
    const before = rig.claude.requests[rig.claude.requests.findIndex(asksForSummary) - 1];
    const plain = (request?: RecordedRequest) =>
      JSON.stringify(request?.body.messages).replaceAll(/,"cache_control":\{[^}]*\}/g, '');
    expect(plain(asked)).toBe(plain(before));
    const [block, answer, results] = next()?.body.messages ?? [];
    expect(block).toEqual({
      role: 'assistant',
      content: [{ type: 'compaction', content: 'Page 1 shows pid 1 (tc_1).', signature: expect.any(String) }],
    });
    expect(JSON.stringify(answer)).toMatch(/"thinking".*Turn 4\./);
    expect(JSON.stringify(results)).toContain('tc_4');
    expect(rig.events.filter(({ type }) => type === 'withdrawn')).toEqual([]);
  });

  it('keeps what it is about and the ids of its evidence by code, whatever the summary says', async () => {
    rig = await startLoop(growing(4), {
      summary: () => ({ blocks: [{ summary: 'All is well, says tc_made_up.' }] }),
    });
    const outcome = await rig.run(options());
    const content = next()?.body.messages[2]?.content as { type: string; text?: string }[];
    expect(content.map(({ type }) => type)).toEqual(['tool_result', 'text', 'text']);
    expect(content[1]?.text).toBe('Eight sessions wait.');
    expect(content[2]?.text).toMatch(/tc_1[\s\S]*tc_2[\s\S]*tc_3/);
    expect(content[2]?.text).not.toMatch(/tc_made_up|tc_4/);
    if (outcome.kind !== 'finished') throw new Error(outcome.kind);
    expect([...outcome.recordedAs.values()]).toEqual(['tc_1', 'tc_2', 'tc_3', 'tc_4']);
  });

  it('reads it from the cache, and counts what the summary cost, which stands nowhere but in its iteration', async () => {
    rig = await startLoop(growing(5));
    const outcome = await rig.run(options());
    const passes = summaries()[0]?.usage?.['iterations'] as Record<string, number>[] | undefined;
    const iteration = passes?.[0];
    expect(summaries()[0]?.usage).toMatchObject({ input_tokens: 0, output_tokens: 0 });
    expect(iteration?.['cache_read_input_tokens']).toBeGreaterThan(4_000);
    expect(iteration?.['input_tokens']).toBe(0);
    expect(outcome.spent.usd).toBeCloseTo(charged(rig.claude.requests), 8);
    expect(outcome.spent.usage.output).toBeGreaterThan(iteration?.['output_tokens'] ?? 0);
  });

  it('is summed up again from the newest block alone, with all ids', async () => {
    rig = await startLoop(growing(8));
    expect((await rig.run(options())).kind).toBe('finished');
    expect(refused()).toEqual([]);
    expect(summaries()).toHaveLength(2);
    const text = JSON.stringify(next()?.body.messages);
    expect(text.split('"type":"compaction"')).toHaveLength(2);
    for (const id of ['tc_1', 'tc_2', 'tc_3', 'tc_4', 'tc_5']) expect(text).toContain(id);
  });

  it('names the beta only where it is used', async () => {
    rig = await startLoop(growing(5));
    await rig.run(options());
    const first = rig.claude.requests.findIndex(asksForSummary);
    const named = rig.claude.requests.map(({ headers }) => headers['anthropic-beta']);
    expect(new Set(named.slice(0, first))).toEqual(new Set([undefined]));
    expect(new Set(named.slice(first))).toEqual(new Set(['compact-2026-09-04']));
  });

  it('is told of, and is stopped at once', async () => {
    const stop = new AbortController();
    rig = await startLoop(growing(5), {
      summary: () => ({ blocks: [{ summary: 'x' }], fault: { kind: 'stall', afterBytes: 300 } }),
    });
    const outcome = rig.run(options({ signal: stop.signal }));
    await rig.claude.held();
    expect(rig.events.at(-1)).toEqual({ type: 'summing_up' });
    stop.abort();
    expect((await outcome).kind).toBe('aborted');
    expect(summaries()).toHaveLength(1);
  });

  it('is not paid for twice after a crash between the summary and the next turn', async () => {
    const recorded = new Map<string, string>();
    let killed = false;
    const durably: Durably = async (name, fn) => {
      const known = recorded.get(name);
      if (known !== undefined) return JSON.parse(known) as never;
      if (!killed && recorded.has('turn 5 summary')) {
        killed = true;
        throw new Error('killed');
      }
      const value = await fn();
      recorded.set(name, JSON.stringify(value));
      return value;
    };
    rig = await startLoop(growing(5));
    const run = options({ durably });
    await expect(rig.run(run)).rejects.toThrow('killed');
    const sent = rig.claude.requests.length;
    expect(asksForSummary(rig.claude.requests.at(-1) as RecordedRequest)).toBe(true);
    const outcome = await rig.run(run);
    expect(outcome).toMatchObject({ kind: 'finished', report: { pid: 4711 } });
    expect(summaries()).toHaveLength(1);
    expect(refused()).toEqual([]);
    expect(rig.claude.requests.length - sent).toBe(2);
    expect(outcome.spent.usd).toBeCloseTo(charged(rig.claude.requests), 8);
  });
});

describe('a history that grows too long, where there is no summary of the server’s', () => {
  const byCode = (from: LoopRig = rig) =>
    from.claude.requests.filter(({ body }) => JSON.stringify(body.messages[0]).includes('work_so_far'));

  it('is summed up by code when the parameter is refused, which is asked once of a server', async () => {
    rig = await startLoop(growing(8), { compaction: 'refused' });
    expect(await rig.run(options())).toMatchObject({ kind: 'finished', report: { pid: 4711 } });
    expect(summaries()).toHaveLength(1);
    expect(refused()).toHaveLength(1);
    expect(byCode().length).toBeGreaterThan(0);
    rig.claude.play(growing(8));
    expect((await rig.run(options())).kind).toBe('finished');
    expect(summaries()).toHaveLength(1);
  });

  it('is summed up by code, and nothing is asked, when the model says that it does not', async () => {
    rig = await startLoop(growing(5), { compaction: 'unlisted' });
    expect((await rig.run(options())).kind).toBe('finished');
    expect(summaries()).toEqual([]);
    expect(byCode().length).toBeGreaterThan(0);
  });

  it('is summed up by code, shows nothing and runs nothing when the parameter is ignored, which is asked once', async () => {
    rig = await startLoop(growing(8), { compaction: 'ignored' });
    let ran = 0;
    const counting = options();
    const outcome = await rig.run({
      ...counting,
      callTool: async (...args) => {
        ran += 1;
        return (await counting.callTool?.(...args)) ?? { content: '', isError: true };
      },
    });
    expect(outcome.kind).toBe('finished');
    expect(summaries()).toHaveLength(1);
    // The answer to it was the fifth page: neither read nor shown.
    expect(ran).toBe(7);
    expect(JSON.stringify(rig.events)).not.toContain('Turn 5.');
    expect(outcome.spent.usd).toBeCloseTo(charged(rig.claude.requests), 8);
    rig.claude.play(growing(8));
    expect((await rig.run(options())).kind).toBe('finished');
    expect(summaries()).toHaveLength(1);
  });

  it.each<[string, ScriptedReply]>([
    ['was cut', { blocks: [], stop: 'max_tokens', outputTokens: 900 }],
    ['called a tool', { blocks: [], stop: 'tool_use', outputTokens: 900 }],
    ['was declined', { blocks: [], stop: 'refusal', stopDetails: { category: 'cyber', explanation: 'no' } }],
    ['says nothing', { blocks: [], stop: 'end_turn' }],
    ['never came', { fault: { kind: 'http', status: 529 } }],
  ])('is summed up by code when the summary %s, and that is paid for', async (_, reply) => {
    rig = await startLoop(growing(4), { summary: () => reply });
    const outcome = await rig.run(options());
    expect(outcome).toMatchObject({ kind: 'finished', report: { pid: 4711 } });
    expect(byCode().length).toBeGreaterThan(0);
    expect(outcome.spent.usd).toBeCloseTo(charged(rig.claude.requests), 8);
  });

  it('begins with a summary by code when another server than the one that wrote the block goes on', async () => {
    const recorded = new Map<string, string>();
    let stop = false;
    const durably: Durably = async (name, fn) => {
      const known = recorded.get(name);
      if (known !== undefined) return JSON.parse(known) as never;
      if (stop) throw new Error('killed');
      const value = await fn();
      recorded.set(name, JSON.stringify(value));
      stop = name === 'turn 5 summary';
      return value;
    };
    rig = await startLoop(growing(5), {
      summary: () => ({ blocks: [{ summary: 'I suspect billing.' }] }),
    });
    const run = options({ durably });
    await expect(rig.run(run)).rejects.toThrow('killed');
    stop = false;
    other = await startLoop([found()], { compaction: 'refused' });
    expect(await other.run(run)).toMatchObject({ kind: 'finished', report: { pid: 4711 } });
    expect(refused(other)).toHaveLength(1);
    const history = JSON.stringify(byCode(other)[0]?.body.messages);
    for (const kept of ['I suspect billing.', 'Eight sessions wait.', 'tc_1', 'tc_2', 'tc_3'])
      expect(history).toContain(kept);
  });
});
