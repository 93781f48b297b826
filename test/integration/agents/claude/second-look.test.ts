import { afterEach, describe, expect, it } from 'vitest';
import {
  type MessagesRequest,
  type ScriptedReply,
  toolResultTexts,
} from '../../../../playground/claude/scenario.ts';
import { InvestigatorFailed } from '../../../../src/agents/ports.ts';
import type { Triage } from '../../../../src/core/diagnosis.ts';
import type { Json } from '../../../../src/core/tool-call.ts';
import { type InvestigationRig, startInvestigation } from './investigation-rig.ts';
import { type LoopRig, startLoop } from './loop-rig.ts';

/** The detective has a clock, and may look twice: time passes as each test says. */
const BEGAN = Date.parse('2026-11-21T10:13:00.400Z');
const TRIAGED: Triage = {
  severity: 'critical',
  incidentType: 'blocked_sessions',
  routine: false,
  ignore: false,
  reason: 'eight checkouts wait',
};
const UNSURE = { verdict: 'cannot_tell', rootCause: 'Nothing found.', category: null, confidence: 0 };

let rig: InvestigationRig;
afterEach(() => rig?.claude.close());

interface Look {
  /** Since the beginning. */
  readonly atSeconds: number;
  readonly tool?: string;
  readonly input?: object;
  readonly data?: Json;
}

/** Looks one after another, each in a message of its own and at its time, then a report. */
async function watch(looks: readonly Look[]): Promise<{ readonly first: string; readonly results: Shown[] }> {
  const { end, first, results } = await play(looks);
  await end;
  return { first: first(), results: results() };
}

async function play(looks: readonly Look[], otherwise?: Look) {
  let nowMs = BEGAN;
  let asked = 0;
  const data: Record<string, Json> = {};
  const scenario = (): ScriptedReply => {
    const look = looks[asked] ?? otherwise;
    asked += 1;
    if (look === undefined) return { blocks: [{ tool: 'report_diagnosis', input: UNSURE }] };
    const { atSeconds, tool = 'postgres_blocking_tree', input = {} } = look;
    nowMs = BEGAN + atSeconds * 1_000;
    if (look.data !== undefined) data[tool] = look.data;
    return { blocks: [{ tool, input: { target: 'shop-db', ...input } }] };
  };
  rig = await startInvestigation(
    scenario,
    { postgres_blocking_tree: 'who waits', postgres_long_transactions: 'what runs' },
    { clock: () => new Date(nowMs) },
    data,
  );
  const end = rig.investigator.diagnose({ ...rig.work, alertStartedAt: '2026-11-21T10:01:00Z' }, TRIAGED);
  const bodies = (): readonly MessagesRequest[] => rig.claude.requests.map(({ body }) => body);
  return {
    end,
    first: () => JSON.stringify(bodies()[0]?.messages[0]),
    results: () =>
      toolResultTexts(bodies().at(-1) as MessagesRequest).map((text): Shown => {
        const at = text.indexOf('{');
        return { note: text.slice(0, at).trim(), ...(JSON.parse(text.slice(at)) as object) } as Shown;
      }),
  };
}

interface Shown {
  readonly note: string;
  readonly at: string;
  readonly tool_call_id: string;
  readonly since_call?: string;
  readonly changed?: unknown;
}

describe('the clock', () => {
  it('stands in the first user turn, with when the alert began; in no system prompt', async () => {
    const { first } = await watch([]);
    expect(first).toContain('\\"now\\": \\"2026-11-21T10:13:00Z\\"');
    expect(first).toContain('\\"alert_started_at\\": \\"2026-11-21T10:01:00Z, 12 min ago\\"');
    expect(first).toContain('\\"opened_at\\": \\"2026-11-21T10:12:00Z, 60 s ago\\"');
    expect(JSON.stringify(rig.claude.requests[0]?.body.system)).not.toMatch(/20\d\d-/);
  });

  it('stands in each result, and earlier turns stay as they were', async () => {
    const { results } = await watch([
      { atSeconds: 3 },
      { atSeconds: 65, tool: 'postgres_long_transactions' },
    ]);
    expect(results.map(({ at }) => at)).toEqual(['2026-11-21T10:13:03Z', '2026-11-21T10:14:05Z']);
    const [before, after] = rig.claude.requests
      .slice(-2)
      // Where a prefix ends to be cached moves on.
      .map(({ body }) =>
        JSON.stringify(body.messages).replaceAll(',"cache_control":{"type":"ephemeral"}', ''),
      );
    expect(after?.startsWith(String(before).slice(0, -1))).toBe(true);
  });
});

describe('the same read', () => {
  it('a moment later is answered from the first, with its age, however it is worded', async () => {
    const { results } = await watch([
      { atSeconds: 0, input: { why: 'who blocks?' } },
      { atSeconds: 4, input: { why: 'I want to be sure' } },
    ]);
    expect(rig.requests).toHaveLength(1);
    expect(results[1]?.note).toContain('earlier identical call of 4 s ago');
    expect(results[1]?.tool_call_id).toBe(results[0]?.tool_call_id);
  });

  it('is the same under a target that is left out, written otherwise or named', async () => {
    const { results } = await watch([
      { atSeconds: 0 },
      { atSeconds: 1, input: { target: '' } },
      { atSeconds: 2, input: { target: 'SHOP-DB', why: 'again' } },
    ]);
    expect(rig.requests).toHaveLength(1);
    expect(results).toHaveLength(3);
  });

  it('some seconds later is made again, and shown with what has changed since', async () => {
    const data = (waiters: number, pids: readonly number[]): Json => ({
      waiters,
      longest_wait_seconds: 30 + waiters,
      sessions: pids.map((pid) => ({ pid, state: pid === 2 && waiters > 2 ? 'idle' : 'active' })),
    });
    const { results } = await watch([
      { atSeconds: 0, data: data(2, [1, 2]) },
      { atSeconds: 12, data: data(5, [2, 3, 4]) },
    ]);
    expect(rig.requests).toHaveLength(2);
    expect(results[1]).toMatchObject({
      note: '',
      at: '2026-11-21T10:13:12Z',
      since_call: results[0]?.tool_call_id,
      changed: [
        'waiters: +3 (2 → 5) in 12 s',
        'longest_wait_seconds: +3 (32 → 35) in 12 s',
        'sessions: +1 (2 → 3) in 12 s',
        'sessions: new: pid 3, pid 4',
        'sessions: gone: pid 1',
        'sessions[pid 2].state: active → idle',
      ],
    });
  });

  it('shows what is only ever counted as a rate, from the last time that it was read', async () => {
    const tool = 'postgres_long_transactions';
    const data = (calls: number): Json => ({ statements: [{ queryid: 'q1', calls }] });
    const { results } = await watch([
      { atSeconds: 0, tool, data: data(1_000) },
      { atSeconds: 10, tool, data: data(1_500) },
      { atSeconds: 14, tool },
      { atSeconds: 20, tool, data: data(1_510) },
    ]);
    expect(results[1]?.changed).toEqual(['statements[queryid q1].calls: +500 in 10 s (50/s)']);
    expect(results[2]?.note).toContain('of 4 s ago');
    expect(results[3]?.changed).toEqual(['statements[queryid q1].calls: +10 in 10 s (1/s)']);
  });
});

it('what is no read of a live system is never made again', async () => {
  let nowMs = BEGAN;
  const loop: LoopRig = await startLoop((): ScriptedReply => {
    nowMs += 60_000;
    const asked = loop.claude.requests.length;
    return asked <= 3
      ? { blocks: [{ tool: 'pg_blocking', input: { note: 'keep this' } }] }
      : { blocks: [{ tool: 'report_found', input: { pid: 1, confidence: 1 } }] };
  });
  await loop.run({ clock: () => nowMs, mayRepeat: () => false });
  expect(loop.calls).toHaveLength(1);
  await loop.claude.close();
});

describe('endless repetition', () => {
  const ends = async (otherwise: (n: number) => Look) => {
    let n = 0;
    const { end } = await play([], {
      get atSeconds() {
        n += 1;
        return otherwise(n).atSeconds;
      },
      get input() {
        return otherwise(n).input ?? {};
      },
      get data() {
        return otherwise(n).data ?? null;
      },
    });
    await expect(end).rejects.toThrow(InvestigatorFailed);
    await expect(end).rejects.toThrow('made no progress');
    return rig.requests.length;
  };

  it('at once, with another reason each time, ends after one read', async () => {
    expect(await ends((n) => ({ atSeconds: n / 10, input: { why: `reason ${n}` } }))).toBe(1);
  });

  it('every ten seconds ends where nothing changes but ages', async () => {
    expect(
      await ends((n) => ({ atSeconds: n * 10, data: { waiters: 2, longest_wait_seconds: 30 + n * 10 } })),
    ).toBe(4);
  });

  it('every ten seconds ends although each read shows another number', async () => {
    expect(await ends((n) => ({ atSeconds: n * 10, data: { waiters: n } }))).toBe(6);
  });
});
