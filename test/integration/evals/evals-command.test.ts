import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { sentry } from '../../support/product.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

let claude: ScriptedClaude | undefined;
afterEach(async () => {
  await claude?.close();
  claude = undefined;
});

const scenario = {
  id: 'one',
  title: 'A pod crashes',
  incident: { title: 'Pod is crash looping', commonLabels: { alertname: 'KubePodCrashLooping' } },
  tool_outputs: [{ tool: 'kubectl_logs', args: {}, output: 'DB_URL is undefined' }],
  expected: { root_cause: 'DB_URL is missing.', keywords: ['DB_URL'] },
};

function files(lines: Readonly<Record<string, readonly unknown[]>>): string {
  const dir = scratchDir();
  for (const [name, values] of Object.entries(lines))
    writeFileSync(
      join(dir, name),
      values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n'),
    );
  return dir;
}

const run = (dir: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  sentry({ dataDir: dir, env }, ['evals', ...args]);

describe('sentry evals', () => {
  it('runs a scenarios file with the playbook and says so as JSON, and writes nothing', async () => {
    const dir = files({ 'mine.jsonl': [scenario] });
    const { stdout, code } = await run(dir, ['run', '--scenarios', join(dir, 'mine.jsonl'), '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      summary: {
        score: 0.25,
        falseCauses: 0,
        abstained: 1,
        correct: 0,
        costUsd: 0,
        wallMs: expect.any(Number),
      },
      incidents: [{ id: 'one', outcome: 'abstained', answer: { verdict: 'cannot_tell' } }],
    });
  }, 30_000);

  it('runs it with Claude at the configured address, and counts the money', async () => {
    const dir = files({ 'mine.jsonl': [scenario] });
    claude = await createScriptedClaude({
      scenario: [
        {
          blocks: [
            {
              tool: 'report_triage',
              input: {
                severity: 'critical',
                incidentType: 'crash',
                routine: false,
                ignore: false,
                reason: 'It crashes.',
              },
            },
          ],
        },
        { blocks: [{ tool: 'kubectl_logs', input: { why: 'its log' } }] },
        {
          blocks: [
            {
              tool: 'report_diagnosis',
              input: {
                verdict: 'cause_found',
                rootCause: 'It exits because DB_URL is missing.',
                category: 'configuration_error',
                confidence: 0.9,
                evidence: [
                  {
                    claim: 'The log says so.',
                    toolCallIds: ['tc_000000000001'],
                    quote: 'DB_URL is undefined',
                  },
                ],
                ruledOut: [],
                unknown: [],
                wouldChangeMyMind: '',
                blastRadius: '',
                remedy: '',
                runbookId: '',
              },
            },
          ],
        },
      ],
    });
    const { stdout, code } = await run(
      dir,
      ['run', '--investigator', 'claude', '--scenarios', join(dir, 'mine.jsonl'), '--json'],
      { ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: claude.url },
    );
    expect(code).toBe(0);
    const { summary } = JSON.parse(stdout) as { summary: { costUsd: number } };
    expect(summary).toMatchObject({ score: 1, correct: 1, falseCauses: 0 });
    expect(summary.costUsd).toBeGreaterThan(0);
  }, 30_000);

  it('says what is missing where there is no way to a model', async () => {
    const dir = files({ 'mine.jsonl': [scenario] });
    const { stderr, code } = await run(dir, [
      'run',
      '--investigator',
      'claude',
      '--scenarios',
      join(dir, 'mine.jsonl'),
    ]);
    expect(stderr).toContain('ANTHROPIC_API_KEY');
    expect(code).toBe(4);
  }, 30_000);

  it('scores answers from outside, and names those that answer nothing', async () => {
    const dir = files({
      'mine.jsonl': [scenario],
      'answers.jsonl': [
        { id: 'one', root_cause: 'DB_URL is missing in the environment.' },
        { id: 'two', root_cause: 'x' },
      ],
    });
    const args = ['score', '--scenarios', join(dir, 'mine.jsonl'), '--answers', join(dir, 'answers.jsonl')];
    const { stdout, stderr, code } = await run(dir, [...args, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ summary: { score: 1, correct: 1, falseCauses: 0 } });
    expect(stderr).toContain('two');
    expect((await run(dir, args)).stdout).toMatch(/one +correct +1\.00/);
  }, 30_000);

  it.each([
    ['no JSON', '{nonsense', ':2: no JSON'],
    [
      'a field that is missing',
      { id: 'two', title: 'x', tool_outputs: [], expected: { root_cause: '' } },
      ':2: incident',
    ],
    ['an id that is there twice', scenario, 'one is there twice'],
  ])(
    'names file, line and field of %s',
    async (_, line, says) => {
      const dir = files({ 'mine.jsonl': [scenario, line] });
      const { stderr, code } = await run(dir, ['run', '--scenarios', join(dir, 'mine.jsonl')]);
      expect(stderr).toContain(says);
      expect(code).toBe(1);
    },
    30_000,
  );
});
