import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadScenarios } from '../../../evals/commands/evals-inputs.ts';
import { replayPlaybook } from '../../../evals/replay/investigators.ts';
import { expectedVerdict, type Scenario } from '../../../evals/replay/scenario.ts';
import { alikePairs } from '../../../evals/score/alike.ts';
import { type EvalRun, runEvals } from '../../../evals/score/run-evals.ts';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { redact } from '../../../src/safety/screen/redact.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { aScenario } from './support.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const signal = new AbortController().signal;
let scenarios: readonly Scenario[];
let run: EvalRun;

beforeAll(async () => {
  scenarios = await loadScenarios(undefined);
  const { runbooks } = await loadRunbooks(`${root}/runbooks`, { tools: createRegistry(allTools) });
  run = await runEvals({ scenarios, make: replayPlaybook(runbooks), tools: allTools, mapped: true, signal });
});

const outcomesOf = (wanted: (scenario: Scenario) => boolean) => {
  const ids = new Set(scenarios.filter(wanted).map(({ id }) => id));
  return run.incidents.filter(({ id }) => ids.has(id));
};
const failures = (results: EvalRun['incidents']) =>
  results.map(
    ({ id, answer, notes }) => `${id}: ${answer.verdict} ${answer.rootCause} (${notes.join('; ')})`,
  );

describe('the playbook on what another system recorded', () => {
  it('reads what means the same as a tool of ours, and claims nothing that it does not show', async () => {
    const lag = {
      metric_name: 'ReplicaLag',
      dimensions: [{ Name: 'DBInstanceIdentifier', Value: 'books-replica' }],
      timestamps: ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'],
      values: [4, 1_900],
    };
    const scenario = aScenario({
      incident: {
        title: 'Replica lag',
        commonLabels: { alertname: 'RDSReplicaLagHigh', engine: 'postgres' },
      },
      tool_outputs: [
        { tool: 'aws_cloudwatch_metrics', output: JSON.stringify({ metric_data_results: [lag] }) },
      ],
    });
    const { runbooks } = await loadRunbooks(`${root}/runbooks`, { tools: createRegistry(allTools) });
    const make = replayPlaybook(runbooks);
    const mapped = await runEvals({ scenarios: [scenario], make, tools: allTools, mapped: true, signal });
    expect(mapped.incidents[0]).toMatchObject({ outcome: 'abstained', toolCalls: 1 });
    expect(mapped.incidents[0]?.answer.rootCause).toContain('could be tested');
    const unmapped = await runEvals({ scenarios: [scenario], make, tools: allTools, mapped: false, signal });
    expect(unmapped.incidents[0]?.answer.unknown.join()).toContain('was not recorded');
  });
});

describe('the recorded incidents', () => {
  it('are at least 150 over all domains, most of them with a runbook', () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(150);
    expect(scenarios.filter(({ runbook }) => runbook != null).length * 3).toBeGreaterThanOrEqual(
      scenarios.length * 2,
    );
    for (const domain of ['postgres', 'kubernetes', 'docker', 'podman'])
      expect(scenarios.filter((one) => one.domain === domain).length, domain).toBeGreaterThanOrEqual(20);
  });

  it('are healthy, look like something else or cannot be told in at least 40 cases', () => {
    const verdicts = scenarios.map(({ expected }) => expectedVerdict(expected));
    expect(verdicts.filter((verdict) => verdict !== 'cause_found').length).toBeGreaterThanOrEqual(40);
    for (const verdict of ['cause_found', 'healthy', 'cannot_tell'])
      expect(verdicts.filter((one) => one === verdict).length, verdict).toBeGreaterThanOrEqual(20);
  });

  it('do not share more than half of their tool output with each other', () => {
    expect(alikePairs(scenarios)).toEqual([]);
  });

  it('say of each cause which words are required', () => {
    for (const { id, expected } of scenarios)
      if (expectedVerdict(expected) === 'cause_found')
        expect([...expected.keywords, ...expected.keyword_groups], id).not.toEqual([]);
  });

  it('hold no secret and no path of a machine', () => {
    for (const name of ['postgres', 'hosts', 'kubernetes', 'containers']) {
      const text = readFileSync(`${root}/evals/incidents/${name}.jsonl`, 'utf8');
      for (const line of text.split('\n')) expect(redact(line) === line, line.slice(0, 60)).toBe(true);
      expect(text).not.toMatch(/\/(?:work|root|home|Users|tmp)\//);
    }
  });
});

describe('the playbook on the recorded incidents', () => {
  it('scores at least 0.95 where there is a runbook', () => {
    const results = outcomesOf(({ runbook }) => runbook != null);
    const mean = results.reduce((sum, { score }) => sum + score, 0) / results.length;
    expect(mean, failures(results.filter(({ score }) => score < 0.95)).join('\n')).toBeGreaterThanOrEqual(
      0.95,
    );
  });

  it('never claims a cause where there is no runbook, nor on a healthy system, nor where nobody could tell', () => {
    const claimed = outcomesOf(
      ({ runbook, expected }) => runbook == null || expectedVerdict(expected) !== 'cause_found',
    ).filter(({ answer }) => answer.verdict === 'cause_found');
    expect(failures(claimed)).toEqual([]);
  });

  it('claims no false cause, and all is well nowhere where something is wrong', () => {
    expect(failures(run.incidents.filter(({ outcome }) => outcome === 'wrong'))).toEqual([]);
  });

  it("claims of a system what is wrong there, whichever other incident's alert asks", async () => {
    const { runbooks } = await loadRunbooks(`${root}/runbooks`, { tools: createRegistry(allTools) });
    const swapped = scenarios.flatMap((system) =>
      scenarios
        .filter(({ id, domain }) => id !== system.id && domain === system.domain)
        .map(({ id, incident, title, severity }) => ({
          ...system,
          id: `the alert of ${id} on the system of ${system.id}`,
          incident,
          title,
          severity,
        })),
    );
    const { incidents } = await runEvals({
      scenarios: swapped,
      make: replayPlaybook(runbooks),
      tools: allTools,
      mapped: true,
      signal,
    });
    const claimed = incidents.filter(({ answer }) => answer.verdict === 'cause_found');
    expect(claimed.length).toBeGreaterThan(50);
    expect(failures(claimed.filter(({ outcome }) => outcome === 'wrong'))).toEqual([]);
  });

  it('stands on evidence: what it concludes quotes what was recorded', () => {
    for (const { id, answer } of run.incidents)
      if (answer.verdict !== 'cannot_tell') {
        const outputs =
          scenarios.find((one) => one.id === id)?.tool_outputs.map(({ output }) => output) ?? [];
        expect(answer.evidence.length, id).toBeGreaterThan(0);
        for (const { quote } of answer.evidence)
          expect(
            outputs.some((output) => output.includes(quote ?? '\0')),
            `${id}: ${quote}`,
          ).toBe(true);
      }
  });

  it('gives the same answers again', async () => {
    const { runbooks } = await loadRunbooks(`${root}/runbooks`, { tools: createRegistry(allTools) });
    const again = await runEvals({
      scenarios,
      make: replayPlaybook(runbooks),
      tools: allTools,
      mapped: true,
      signal,
    });
    const plain = ({ incidents }: EvalRun) => incidents.map((one) => ({ ...one, wallMs: 0 }));
    expect(plain(again)).toEqual(plain(run));
  });
});
