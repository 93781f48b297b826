import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runLoop } from '../../../../src/agents/loop/run-loop.ts';
import type { AgentEvent, LoopOptions, LoopOutcome } from '../../../../src/agents/loop/types.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import { answerOf, SPOILS, type Spoil, spoiltFetch } from './spoilt-fetch.ts';

/**
 * One stream, spoilt at every single byte in every way. In process: the real loop, gateway and SDK, but no socket, and a
 * stall is noticed after 15 ms.
 */
const CALLS = answerOf({
  blocks: [
    { text: 'The blöcker 🔒 is not' },
    { tool: 'pg_blocking', input: { pid: 4711, note: 'ünï 🐘' } },
    { tool: 'pg_activity', input: {} },
  ],
  deltaChars: 16,
});
const REPORT = answerOf({
  blocks: [{ text: 'Found.' }, { tool: 'report_found', input: { pid: 4711 } }],
  deltaChars: 40,
});
const Found = z.object({ pid: z.int() });

interface Run {
  readonly outcome: LoopOutcome<z.infer<typeof Found>>;
  readonly called: readonly string[];
  /** What a person still sees of it. */
  readonly shown: string;
}

async function run(
  fetch: typeof globalThis.fetch,
  tries: number,
  limits: LoopOptions<never>['limits'] = {},
  called: string[] = [],
): Promise<Run> {
  const gateway = createModelGateway({
    backend: createAnthropicBackend({ apiKey: 'k', baseUrl: 'http://in.process', idleMs: 80, fetch }),
    retry: { maxAttempts: tries, baseDelayMs: 0 },
  });
  let shown = '';
  const onEvent = (event: AgentEvent) => {
    if (event.type === 'text') shown += event.delta;
    if (event.type === 'withdrawn' || event.type === 'message') shown = '';
  };
  const outcome = await runLoop({
    stream: gateway.stream,
    system: 's',
    tools: [
      { name: 'pg_blocking', description: 'd', inputSchema: { type: 'object' } },
      { name: 'pg_activity', description: 'd', inputSchema: { type: 'object' } },
    ],
    report: { name: 'report_found', description: 'd', schema: Found },
    prompt: 'p',
    effort: 'low',
    maxTokens: 1_000,
    signal: new AbortController().signal,
    callTool: async (name) => {
      called.push(name);
      return { content: 'ok', isError: false };
    },
    onEvent,
    limits,
  });
  return { outcome, called, shown };
}

/** Many at a time: a stall is mostly waiting. */
async function atEveryByte(length: number, each: (at: number) => Promise<void>, step = 1): Promise<void> {
  const positions = Array.from({ length: Math.ceil(length / step) }, (_, n) => n * step);
  for (let from = 0; from < positions.length; from += 64)
    await Promise.all(positions.slice(from, from + 64).map((at) => each(at)));
}

describe.each(SPOILS)('a stream with %s at every byte', (spoil: Spoil) => {
  it('that stays so ends the loop, runs no tool of the unfinished message and leaves no half sentence', async () => {
    await atEveryByte(CALLS.wholeFrom, async (at) => {
      const { outcome, called, shown } = await run(
        spoiltFetch(() => ({ answer: CALLS, spoil, at })),
        1,
      );
      expect([at, outcome.kind, called, shown]).toEqual([at, 'failed', [], '']);
    });
  }, 60_000);

  it('that happens once is asked again: each tool of the whole message runs once, and the report is the report', async () => {
    // A prime, so that positions fall inside events, JSON strings and UTF-8 sequences alike.
    await atEveryByte(
      CALLS.bytes.length,
      async (at) => {
        let asked = 0;
        const called: string[] = [];
        const next = () => {
          asked += 1;
          if (asked === 1) return { answer: CALLS, spoil, at };
          return { answer: called.length === 0 ? CALLS : REPORT };
        };
        const { outcome } = await run(spoiltFetch(next), 2, {}, called);
        expect([at, outcome.kind, called.toSorted()]).toEqual([
          at,
          'finished',
          ['pg_activity', 'pg_blocking'],
        ]);
      },
      11,
    );
  }, 60_000);
});

describe('a deadline', () => {
  it('holds wherever the stream stalls', async () => {
    await atEveryByte(
      CALLS.wholeFrom,
      async (at) => {
        const stalled = spoiltFetch(() => ({ answer: CALLS, spoil: 'stall', at }));
        const { outcome, called } = await run(stalled, 2, { wallMs: 8 });
        expect([at, outcome.kind, called]).toEqual([at, 'limit', []]);
      },
      17,
    );
  }, 30_000);
});
