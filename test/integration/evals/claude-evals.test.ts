import { afterEach, describe, expect, it } from 'vitest';
import { replayClaude } from '../../../evals/replay/investigators.ts';
import { runEvals } from '../../../evals/score/run-evals.ts';
import { runTable } from '../../../evals/score/tables.ts';
import type { Scenario as Script } from '../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { aScenario } from '../../unit/evals/support.ts';

let claude: ScriptedClaude | undefined;
afterEach(async () => claude?.close());

const scenario = aScenario({
  incident: {
    title: 'Pod is crash looping',
    commonLabels: { alertname: 'KubePodCrashLooping', severity: 'critical' },
  },
  tool_outputs: [
    { tool: 'kubectl_logs', args: { pod: 'billing-1' }, output: 'Environment variable DB_URL is undefined' },
    { tool: 'kubectl_logs', args: { pod: 'web-1' }, output: 'listening on 8080' },
    { tool: 'postgres_activity', args: {}, output: '12 sessions: 1 active' },
  ],
  expected: { root_cause: 'DB_URL is missing in billing-1.', keywords: ['DB_URL', 'billing-1'] },
});

async function evaluate(script: Script, cause?: 'supported' | 'contradicted') {
  claude = await createScriptedClaude({
    scenario: script,
    sceptic: () => ({ blocks: [{ text: JSON.stringify({ cause, claims: ['supported'] }) }] }),
  });
  const llm = createModelGateway({
    backend: createAnthropicBackend({ apiKey: 'sk-test', baseUrl: claude.url }),
    retry: { baseDelayMs: 1 },
  });
  return runEvals({
    scenarios: [scenario],
    make: replayClaude(llm, allTools, { sceptic: cause !== undefined }),
    tools: allTools,
    mapped: false,
    signal: new AbortController().signal,
  });
}

const triage = {
  blocks: [
    {
      tool: 'report_triage',
      input: {
        severity: 'critical',
        incidentType: 'crash_loop',
        routine: false,
        ignore: false,
        reason: 'Crashes.',
      },
    },
  ],
};
const look = { blocks: [{ tool: 'kubectl_logs', input: { pod: 'billing-1', why: 'Reading its log' } }] };
const report = (quote: string, toolCallIds: readonly string[]) => ({
  blocks: [
    {
      tool: 'report_diagnosis',
      input: {
        verdict: 'cause_found',
        rootCause: 'billing-1 exits because DB_URL is not set.',
        category: 'configuration_error',
        confidence: 0.95,
        evidence: [{ claim: 'It says so.', toolCallIds, quote }],
        ruledOut: [],
        unknown: [],
        wouldChangeMyMind: '',
        blastRadius: '',
        remedy: 'Set it.',
        runbookId: '',
      },
    },
  ],
});

describe('Claude on a scenario', () => {
  it('is given the recorded tools and no others, and is scored and paid for', async () => {
    const run = await evaluate([triage, look, report('DB_URL is undefined', ['tc_000000000001'])]);
    expect(run.incidents[0]).toMatchObject({ outcome: 'correct', score: 1, failed: null, toolCalls: 1 });
    expect(run.summary.costUsd).toBeGreaterThan(0);
    const offered = claude?.requests.map(({ body }) =>
      (body.tools ?? []).map((tool) => tool.name).filter((name) => !name.startsWith('report_')),
    );
    expect(new Set(offered?.flat())).toEqual(new Set(['kubectl_logs', 'postgres_activity']));
    expect(JSON.stringify(claude?.requests.at(-1)?.body)).toContain('DB_URL is undefined');
  });

  it('abstains when what it says stands on nothing it read', async () => {
    const made = report('the disk is full', ['tc_000000000009']);
    const run = await evaluate([triage, look, made, made]);
    expect(run.incidents[0]).toMatchObject({ outcome: 'abstained', falseCause: false });
    expect(run.incidents[0]?.dropped).toHaveLength(1);
  });

  it('says how many right diagnoses the second look took away', async () => {
    const right = [triage, look, report('DB_URL is undefined', ['tc_000000000001'])];
    const believed = await evaluate(right, 'supported');
    expect(believed.incidents[0]?.sceptic).toEqual({ wasRight: true, downgraded: false, notChecked: null });
    await claude?.close();
    const doubted = await evaluate(right, 'contradicted');
    expect(doubted.incidents[0]?.sceptic).toMatchObject({ wasRight: true, downgraded: true });
    expect(runTable(doubted)).toContain('Sceptic: 1 looked at, 1 downgraded, 1 of them right before');
    expect(runTable(await evaluate(right))).not.toContain('Sceptic');
  });

  it('abstains, and says why, when the model fails', async () => {
    const run = await evaluate([{ stop: 'refusal', blocks: [] }]);
    expect(run.incidents[0]).toMatchObject({ outcome: 'abstained' });
    expect(run.incidents[0]?.failed).toMatch(/declined/);
  });
});
