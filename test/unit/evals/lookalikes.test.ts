import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { replayPlaybook } from '../../../evals/replay/investigators.ts';
import type { Scenario } from '../../../evals/replay/scenario.ts';
import { type EvalRun, runEvals } from '../../../evals/score/run-evals.ts';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { hostLookalikes } from './lookalikes/hosts.ts';
import type { Lookalike } from './lookalikes/lookalike.ts';
import { postgresLookalikes } from './lookalikes/postgres.ts';
import { aScenario } from './support.ts';

// What looks like the fault of a runbook and is another, or none. No case was recorded: each is the least that a tool of
// ours would have to show for it.

const root = fileURLToPath(new URL('../../..', import.meta.url));

const lookalikes: Readonly<Record<string, Lookalike>> = { ...postgresLookalikes, ...hostLookalikes };

const scenarios = Object.entries(lookalikes).map(([id, one]) => scenarioOf(id, one));

async function played(some: readonly Scenario[]): Promise<EvalRun> {
  const { runbooks } = await loadRunbooks(`${root}/runbooks`, { tools: createRegistry(allTools) });
  return runEvals({
    scenarios: some,
    make: replayPlaybook(runbooks),
    tools: allTools,
    mapped: true,
    signal: new AbortController().signal,
  });
}

describe('what looks like a known fault and is none', () => {
  let run: EvalRun;
  beforeAll(async () => {
    run = await played(scenarios);
  });

  it.each(Object.entries(lookalikes))('%s is not taken for it', (id, { says, verdict = 'cannot_tell' }) => {
    const { answer } = run.incidents.find((one) => one.id === id) ?? expect.fail(id);
    expect(answer.rootCause).toMatch(says);
    expect(answer.verdict).toBe(verdict);
  });
});

describe('what could not be read', () => {
  it('never turns into a cause: no answer, a field or a value less makes nobody surer', async () => {
    const undecided = scenarios.filter(({ id }) => lookalikes[id]?.verdict !== 'cause_found');
    const { incidents } = await played(undecided.flatMap(withLess));
    expect(incidents.length).toBeGreaterThan(100);
    const claimed = incidents.filter(({ answer }) => answer.verdict === 'cause_found');
    expect(claimed.map(({ id, answer }) => `${id}: ${answer.rootCause}`)).toEqual([]);
  });
});

/** The scenario without one of its outputs, and with one field less in one of them. */
function withLess(scenario: Scenario): readonly Scenario[] {
  return scenario.tool_outputs.slice(0, 6).flatMap((output, at) => {
    const instead = (id: string, ...outputs: Scenario['tool_outputs']): Scenario => ({
      ...scenario,
      id: `${scenario.id} without ${output.tool} ${at} ${id}`,
      tool_outputs: scenario.tool_outputs.toSpliced(at, 1, ...outputs),
    });
    const { data } = output;
    const fields = typeof data === 'object' && data !== null && !Array.isArray(data) ? data : {};
    return [
      instead('at all'),
      ...Object.keys(fields).map((name) =>
        instead(name, {
          ...output,
          data: Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name)),
        }),
      ),
    ];
  });
}

function scenarioOf(id: string, { alert, domain, labels = {}, title, sees }: Lookalike): Scenario {
  return aScenario({
    id,
    domain,
    incident: {
      title: title ?? `${alert}: gateway`,
      commonLabels: { alertname: alert, ...labels },
      age_seconds: 20,
    },
    tool_outputs: sees.map(({ tool, args = {}, text, data }) => ({
      tool,
      args,
      output: text ?? JSON.stringify(data),
      data,
    })),
  });
}
