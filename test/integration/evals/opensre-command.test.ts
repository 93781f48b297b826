import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { SYNTHETIC, writeFiles } from '../../support/opensre/fixtures.ts';
import { sentry } from '../../support/product.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

let claude: ScriptedClaude | undefined;
afterEach(async () => {
  await claude?.close();
  claude = undefined;
});

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  sentry({ dataDir: scratchDir(), env }, ['evals', 'run', ...args]);
const suiteOf = (folder: string) => ['--suite', 'opensre', '--from', folder];

describe('sentry evals run --suite opensre', () => {
  it('runs all suites of a folder with the playbook, twice each, with intervals', async () => {
    const folder = writeFiles(SYNTHETIC);
    const { stdout, code } = await run([...suiteOf(folder), '--repeat', '2', '--json']);
    expect(code).toBe(0);
    const shown = JSON.parse(stdout) as { incidents: { id: string; repeat: number }[] };
    expect(shown).toMatchObject({
      summary: { incidents: 16, passed: expect.any(Number), published: expect.any(Number), falseCauses: 0 },
      estimate: {
        scenarios: 8,
        runs: 16,
        passed: { value: expect.any(Number), low: expect.any(Number), high: expect.any(Number) },
        score: { value: expect.any(Number) },
        costUsd: { value: 0 },
        wallMs: { value: expect.any(Number) },
      },
      refused: [{ id: 'opensre-hermes-011-log-only' }, {}, {}],
      unread: [],
    });
    expect(shown.incidents.map(({ repeat }) => repeat)).toEqual([...Array(8).fill(1), ...Array(8).fill(2)]);
  }, 60_000);

  it('compares two models, and says that these runs cannot tell a difference', async () => {
    const triage = {
      severity: 'critical',
      incidentType: 'x',
      routine: false,
      ignore: true,
      reason: 'Noise.',
    };
    claude = await createScriptedClaude({
      scenario: () => ({ blocks: [{ tool: 'report_triage', input: triage }] }),
    });
    const folder = join(writeFiles(SYNTHETIC), 'eks');
    const env = { ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: claude.url };
    const args = [...suiteOf(folder), '--investigator', 'claude', '--compare', 'model=claude-haiku-4-5'];
    const { stdout, code } = await run([...args, '--json'], env);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      summary: { incidents: 2 },
      compared: {
        with: 'model=claude-haiku-4-5',
        summary: { incidents: 2 },
        estimate: { scenarios: 2 },
        incidents: [{}, {}],
        difference: { scenarios: 2, passed: { value: 0, differs: false }, costUsd: { differs: false } },
      },
    });
    const models = claude.requests.map(({ body }) => body.model);
    expect(new Set(models).size).toBe(2);
    expect((await run(args, env)).stdout).toContain('these runs cannot tell a difference');
  }, 60_000);

  it.each([
    ['a suite without its folder', ['--suite', 'opensre'], 'from its folder'],
    ['a folder without a suite in it', suiteOf(scratchDir()), 'holds no scenario'],
    ['a comparison of the playbook', ['--compare', 'model=x'], '--investigator claude'],
    ['a comparison of nothing', ['--compare', 'x'], 'model=<id> or prompt=<folder>'],
    ['no number of times', ['--repeat', 'often'], 'whole number'],
    [
      'prompts that are none',
      ['--investigator', 'claude', '--compare', `prompt=${scratchDir()}`],
      'no prompt that differs',
    ],
  ])(
    'refuses %s, with what to do',
    async (_, args, says) => {
      const { stderr, code } = await run(args, { ANTHROPIC_API_KEY: 'sk-test' });
      expect(stderr).toContain(says);
      expect(code).not.toBe(0);
    },
    30_000,
  );

  it('repeats other incidents as well, and leaves recovery cases out', async () => {
    const dir = scratchDir();
    mkdirSync(dir, { recursive: true });
    const scenario = {
      id: 'one',
      title: 'x',
      incident: { title: 'x' },
      tool_outputs: [],
      expected: { root_cause: 'y' },
    };
    writeFileSync(join(dir, 'mine.jsonl'), JSON.stringify(scenario));
    const { stdout } = await run(['--scenarios', join(dir, 'mine.jsonl'), '--repeat', '3']);
    expect(stdout).toContain('1 scenarios, 3 runs.');
  }, 30_000);
});
