import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Scenario, ScriptedFault } from '../../../playground/claude/scenario.ts';
import { LlmError } from '../../../src/llm/llm-error.ts';
import { type Rig, type RigOptions, startRig as start, textOf, WAYS, type Way } from './support.ts';

let rig: Rig;
afterEach(() => rig.claude.close());

const ANSWER = {
  blocks: [
    { thinking: 'Let me see.' },
    { text: 'Session 4711 blocks eight others.' },
    { tool: 'pg_blocking', input: { limit: 5 } },
  ],
} as const;

async function failure(asked: Promise<unknown>): Promise<LlmError> {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LlmError);
  return error as LlmError;
}

/** Bytes of the whole answer, as the other side writes it. */
async function lengthOf(way: Way): Promise<number> {
  const probe = await start([ANSWER], { way });
  await probe.ask();
  await probe.claude.close();
  return probe.tries[0]?.bytes ?? 0;
}

describe.each(WAYS)('faults before the stream over $name', (way) => {
  const startRig = (scenario: Scenario, options: RigOptions = {}) => start(scenario, { ...options, way });

  it.each([529, 429, 500, 503, 408])('asks again after %i with the identical body', async (status) => {
    rig = await startRig([ANSWER]);
    rig.claude.failNext({ kind: 'http', status }, { kind: 'http', status });
    expect((await rig.ask()).text).toContain('4711');
    const bodies = rig.tries.map((request) => JSON.stringify(request.body));
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies).size).toBe(1);
  });

  it.each([
    [400, 'LLM_BAD_REQUEST'],
    [401, 'LLM_AUTH'],
    [402, 'LLM_BILLING'],
    [403, 'LLM_AUTH'],
    [404, 'LLM_MODEL_UNKNOWN'],
    [413, 'LLM_CONTEXT_EXCEEDED'],
  ])('does not ask again after %i', async (status, code) => {
    rig = await startRig([ANSWER]);
    rig.claude.failNext({ kind: 'http', status });
    expect(await failure(rig.ask())).toMatchObject({ code, retryable: false });
    expect(rig.tries).toHaveLength(1);
  });

  it('gives up after four tries and says what the server said', async () => {
    rig = await startRig([ANSWER]);
    rig.claude.failNext(...Array.from({ length: 9 }, (): ScriptedFault => ({ kind: 'http', status: 529 })));
    expect(await failure(rig.ask())).toMatchObject({ code: 'LLM_OVERLOADED', retryable: true });
    expect(rig.tries).toHaveLength(3);
  });

  it('honours retry-after, but only up to its cap', async () => {
    rig = await startRig([ANSWER], { retry: { maxRetryAfterMs: 50 } });
    rig.claude.failNext({ kind: 'http', status: 429, headers: { 'retry-after': '900' } });
    await rig.ask();
    expect(rig.events).toContainEqual(expect.objectContaining({ type: 'retrying', attempt: 2, delayMs: 50 }));
  });

  it('does not wait for a retry that the deadline would not allow', async () => {
    rig = await startRig([ANSWER]);
    rig.claude.failNext({ kind: 'http', status: 429, headers: { 'retry-after': '15' } });
    expect((await failure(rig.ask({}, { deadlineMs: 10_000 }))).code).toBe('LLM_RATE_LIMITED');
    expect(rig.tries).toHaveLength(1);
    expect(rig.events).not.toContainEqual(expect.objectContaining({ type: 'retrying' }));
  });

  it('says where to look when nobody listens', async () => {
    rig = await startRig([ANSWER]);
    await rig.claude.close();
    const error = await failure(rig.ask());
    expect(error.code).toBe('LLM_UNREACHABLE');
    expect(error.hint).toContain('ANTHROPIC_BASE_URL');
  });
});

describe.each(WAYS)('faults inside the stream over $name', (way) => {
  const startRig = (scenario: Scenario, options: RigOptions = {}) => start(scenario, { ...options, way });

  const step = way.name === 'the direct API' ? 97 : 397;
  let length = 0;
  beforeAll(async () => {
    length = await lengthOf(way);
    expect(length).toBeGreaterThan(1_000);
  });

  it.each(['cut', 'eof', 'garbage', 'error_event'] as const)(
    '%s anywhere is asked again, and its words are withdrawn',
    async (kind) => {
      rig = await startRig(() => ANSWER);
      // Odd steps, so that positions fall inside events, JSON strings and UTF-8 sequences alike. What is cut from
      // `message_stop` on is whole to the client, or not: both are fine, half is not.
      for (let afterBytes = 0; afterBytes < length - 60; afterBytes += step) {
        rig.events.length = 0;
        const before = rig.tries.length;
        rig.claude.failNext({ kind, afterBytes });
        const message = await rig.ask();
        expect(message.text).toBe('Session 4711 blocks eight others.');
        expect(message.toolUses).toHaveLength(1);
        expect(textOf(rig.events)).toBe(message.text);
        expect(rig.tries.length - before, `${kind} after ${afterBytes} bytes`).toBe(2);
      }
    },
    60_000,
  );

  it('gives up on a stream that stalls, however often, within its deadline', async () => {
    const fault = { kind: 'stall', afterBytes: Math.floor(length * 0.6) } as const;
    rig = await startRig(() => ({ ...ANSWER, fault }), { idleMs: 250 });
    expect(await failure(rig.ask())).toMatchObject({ code: 'LLM_STALLED' });
    expect(rig.tries).toHaveLength(3);
    expect(rig.events.at(-1)).toEqual({ type: 'withdrawn' });
  });

  it('ends at the deadline even when the stream merely crawls', async () => {
    rig = await startRig([{ ...ANSWER, eventDelayMs: 100 }], { idleMs: 5_000 });
    // Read to its end it would be an answer.
    expect((await failure(rig.ask({}, { deadlineMs: 300 }))).code).toBe('LLM_DEADLINE');
  });

  it('stops at once when aborted, in a stream and between tries', async () => {
    rig = await startRig([{ ...ANSWER, fault: { kind: 'stall', afterBytes: 900 } }]);
    const inStream = new AbortController();
    const asked = failure(rig.ask({}, { signal: inStream.signal }));
    await rig.claude.held();
    inStream.abort();
    expect((await asked).code).toBe('LLM_ABORTED');

    const between = new AbortController();
    rig.claude.failNext({ kind: 'http', status: 529, headers: { 'retry-after': '9' } });
    const onEvent = () => between.abort();
    const before = rig.tries.length;
    expect((await failure(rig.ask({}, { signal: between.signal, onEvent }))).code).toBe('LLM_ABORTED');
    expect(rig.tries).toHaveLength(before + 1);
  });

  it('asks again when the input of a tool call is no JSON, or no object', async () => {
    for (const rawInput of ['{"limit": <<<', '"limit"', '[1]', '{"limit":']) {
      rig = await startRig([{ blocks: [{ tool: 'pg_blocking', rawInput }] }, ANSWER]);
      expect((await rig.ask()).toolUses.map((use) => use.input)).toEqual([{ limit: 5 }]);
      expect(rig.tries, rawInput).toHaveLength(2);
      await rig.claude.close();
    }
  });

  it.each(['cut', 'eof', 'garbage', 'error_event'] as const)(
    '%s anywhere is booked with all of its input and the output that was seen of it',
    async (kind) => {
      rig = await startRig(() => ANSWER);
      const outputs: number[] = [];
      // From behind the message's first events on: before them nobody knows that there is one.
      for (let afterBytes = Math.ceil(length * 0.45); afterBytes < length - 60; afterBytes += step) {
        rig.claude.failNext({ kind, afterBytes });
        const { wasted, usage } = await rig.ask();
        const all = (of: typeof usage) => of.input + of.cacheWrite5m + of.cacheWrite1h + of.cacheRead;
        // Chat completions tell what was used only at their end: it is estimated.
        if (way.whole) expect(all(wasted.usage), `${kind} after ${afterBytes} bytes`).toBe(all(usage));
        else expect(all(wasted.usage)).toBeGreaterThan(0);
        expect(wasted.usd).toBeGreaterThan(0);
        outputs.push(wasted.usage.output);
      }
      expect(outputs.length).toBeGreaterThan(1);
      expect(outputs).toEqual(outputs.toSorted((a, b) => a - b));
      expect(outputs.at(-1)).toBeGreaterThan(outputs[0] ?? 0);
    },
    60_000,
  );

  it('books tries that were lost to input that is no JSON with their output', async () => {
    const rawInput = `{"limit": "${'x'.repeat(4_000)}`;
    rig = await startRig([{ blocks: [{ tool: 'pg_blocking', rawInput }] }, ANSWER]);
    const { wasted } = await rig.ask();
    expect(wasted.usage.output).toBeGreaterThan(900);
  });
});
