import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { replayPlaybook } from '../../../src/evaluation/investigators.ts';
import { type EvalRun, runEvals } from '../../../src/evaluation/run-evals.ts';
import type { Scenario } from '../../../src/evaluation/scenario.ts';
import { loadRunbooks } from '../../../src/memory/runbooks/load-runbooks.ts';
import { allTools } from '../../../src/tools/all.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { hostLookalikes } from './lookalikes/hosts.ts';
import type { Lookalike } from './lookalikes/lookalike.ts';
import { postgresLookalikes } from './lookalikes/postgres.ts';
import { aScenario } from './support.ts';

// What looks like the fault of a runbook and is another, or none. No case was recorded: each is the least that a tool of
// ours would have to show for it.

const root = fileURLToPath(new URL('../../..', import.meta.url));

const lookalikes = { ...postgresLookalikes, ...hostLookalikes };

describe('what looks like a known fault and is none', () => {
  let run: EvalRun;
  beforeAll(async () => {
    const { runbooks } = await loadRunbooks(`${root}/runbooks`, { tools: createRegistry(allTools) });
    run = await runEvals({
      scenarios: Object.entries(lookalikes).map(([id, one]) => scenarioOf(id, one)),
      make: replayPlaybook(runbooks),
      tools: allTools,
      mapped: true,
      signal: new AbortController().signal,
    });
  });

  it.each(Object.entries(lookalikes))('%s is not taken for it', (id, { says, verdict = 'cannot_tell' }) => {
    const { answer } = run.incidents.find((one) => one.id === id) ?? expect.fail(id);
    expect(answer.rootCause).toMatch(says);
    expect(answer.verdict).toBe(verdict);
  });
});

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
