import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { loadCases, loadScenarios } from '../../../evals/commands/evals-inputs.ts';
import { caseIn } from '../../../evals/recovery/load-cases.ts';
import {
  CONFIDENTLY_WRONG,
  claudePlanner,
  ORACLE,
  playbookPlanner,
} from '../../../evals/recovery/planners.ts';
import type { Planner } from '../../../evals/recovery/play.ts';
import type { RecoveryCase } from '../../../evals/recovery/recovery-case.ts';
import { openRecoveryStage } from '../../../evals/recovery/recovery-stage.ts';
import { runRecovery } from '../../../evals/recovery/run-recovery.ts';
import { recoveryTable } from '../../../evals/score/tables.ts';
import { blockedSessions } from '../../../playground/claude/blocked-sessions.ts';
import type { MessagesRequest, ScriptedReply } from '../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { patience } from '../../support/patience.ts';
import { sentry } from '../../support/product.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const PLAYING_MS = 300_000 * patience;

let stage: Awaited<ReturnType<typeof openRecoveryStage>>;
let cases: readonly RecoveryCase[];
beforeAll(async () => {
  stage = await openRecoveryStage(await loadScenarios(undefined), quiet);
  cases = await loadCases(undefined);
}, PLAYING_MS);
afterAll(() => stage?.close());

const run = (planner: Planner, of = cases) => runRecovery(stage, of, [planner], new AbortController().signal);

/** Its reads show it healthy, and it is not: the one thing that no check of ours could find out. */
function lying(): string {
  const text = readFileSync(join(root, 'evals', 'recovery', 'wrong-victim.yaml'), 'utf8');
  return text.replace('is_gone: true', 'is_gone: false');
}

describe('the recovery cases', () => {
  test('hold each kind of thing that can go wrong, and their planners differ', () => {
    const ends = new Set(cases.flatMap((one) => one.ends));
    for (const ending of ['fixed', 'not_fixed', 'over_by_source', 'cannot_tell', 'nothing_ran'])
      expect(ends).toContain(ending);
    expect(cases.length).toBeGreaterThanOrEqual(12);
    const names = ['oracle', 'wrong'] as const;
    expect(
      cases.filter(({ planners }) => planners[names[0]].cause !== planners[names[1]].cause).length,
    ).toBeGreaterThan(4);
  });

  test.each([
    ['the oracle', async () => ORACLE],
    [
      'the playbook',
      async () => {
        const { runbooks } = await loadRunbooks(join(root, 'runbooks'), { tools: createRegistry(allTools) });
        return playbookPlanner(runbooks);
      },
    ],
  ])(
    'end as they should with %s',
    async (_who, planner) => {
      const { plays } = await run(await planner());
      expect(
        plays.filter(({ score }) => score < 1).map(({ id, ending, notes }) => [id, ending, notes]),
      ).toEqual([]);
    },
    PLAYING_MS,
  );

  test(
    'are never called fixed where they are not, however wrong and sure the planner is',
    async () => {
      const { plays, summary } = await run(CONFIDENTLY_WRONG);
      expect(
        plays.filter(({ outcome }) => outcome === 'wrong').map(({ id, ending }) => [id, ending]),
      ).toEqual([]);
      expect(summary).toMatchObject({ falseFixed: 0, wrong: 0 });
      // It does get its way: what is wrong is proposed, approved and run.
      expect(summary.wrongProposals).toBeGreaterThan(2);
      expect(plays.flatMap(({ ran }) => ran)).toContain('end-waiter');
    },
    PLAYING_MS,
  );
});

describe('Claude as the planner', () => {
  let claude: ScriptedClaude | undefined;
  afterEach(async () => claude?.close());

  async function played(script: (request: MessagesRequest) => ScriptedReply) {
    claude = await createScriptedClaude({ scenario: script });
    const llm = createModelGateway({
      backend: createAnthropicBackend({ apiKey: 'sk-test', baseUrl: claude.url }),
      retry: { baseDelayMs: 1 },
    });
    const { plays } = await run(
      claudePlanner(llm, [], { sceptic: false }),
      cases.filter(({ id }) => id === 'wrong-victim'),
    );
    return plays[0];
  }

  test(
    'mends the recorded system with the real tools, and is paid for',
    async () => {
      const play = await played(blockedSessions);
      expect(play).toMatchObject({ planner: 'claude', ending: 'fixed', score: 1, ran: ['end-root'] });
      expect(play?.costUsd).toBeGreaterThan(0);
    },
    PLAYING_MS,
  );

  test(
    'that blames a session which only waits gets nothing called fixed',
    async () => {
      const play = await played((request) => blaming(blockedSessions(request)));
      expect(play).toMatchObject({ falseFixed: false, outcome: 'cautious' });
      expect(play?.wrongProposals).toEqual(['end-waiter']);
      expect(play?.ran).toEqual(['end-waiter']);
    },
    PLAYING_MS,
  );

  /** The same words about the first of those that wait, the quotes left as they are. */
  function blaming(reply: ScriptedReply): ScriptedReply {
    const waiter = (text: string): string =>
      text
        .replaceAll('26614', '26618')
        .replaceAll('2026-11-22T03:17:47.089955Z', '2026-11-22T03:17:47.134604Z');
    const changed = (value: unknown): unknown => {
      if (typeof value === 'string') return waiter(value);
      if (typeof value === 'number') return Number(waiter(String(value)));
      if (Array.isArray(value)) return value.map(changed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, key === 'quote' ? one : changed(one)]),
      );
    };
    return {
      ...reply,
      blocks: (reply.blocks ?? []).map((block) =>
        'input' in block ? { ...block, input: changed(block.input) } : block,
      ),
    };
  }
});

describe('a false fixed', () => {
  test(
    'is worth nothing, is named, and stands apart in the table',
    async () => {
      const result = await run(ORACLE, [caseIn('wrong-victim.yaml', lying())]);
      expect(result.plays[0]).toMatchObject({
        outcome: 'wrong',
        score: 0,
        falseFixed: true,
        ending: 'fixed',
      });
      expect(recoveryTable(result)).toMatch(/oracle: 1 cases, score 0\.000, false fixed: 1/);
    },
    PLAYING_MS,
  );

  test(
    'fails the command',
    async () => {
      const dir = scratchDir();
      writeFileSync(join(dir, 'wrong-victim.yaml'), lying());
      const { code, stdout } = await sentry({ dataDir: dir }, ['evals', 'run', '--cases', dir, '--json']);
      expect(JSON.parse(stdout)).toMatchObject({
        recovery: { byPlanner: { oracle: { falseFixed: 1, plays: 1 } } },
      });
      expect(code).toBe(1);
    },
    PLAYING_MS,
  );
});
