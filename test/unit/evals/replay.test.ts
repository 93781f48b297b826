import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { loadScenarios } from '../../../evals/commands/evals-inputs.ts';
import { incidentOf } from '../../../evals/replay/incident-of.ts';
import { replayPlaybook } from '../../../evals/replay/investigators.ts';
import { createRecordedSession } from '../../../evals/replay/recorded-session.ts';
import { createRecordings } from '../../../evals/replay/recordings.ts';
import { replayIncident } from '../../../evals/replay/replay.ts';
import { replayTable } from '../../../evals/replay/replay-table.ts';
import { investigate } from '../../../evals/replay/run-scenario.ts';
import { normalInput } from '../../../evals/score/run-evals.ts';
import type { IncidentEvent } from '../../../src/core/event.ts';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';

const signal = new AbortController().signal;

it('of an incident by the playbook comes to the same diagnosis by the same calls', async () => {
  const folder = fileURLToPath(new URL('../../../runbooks', import.meta.url));
  const { runbooks } = await loadRunbooks(folder, { tools: createRegistry(allTools) });
  const scenario = (await loadScenarios(undefined)).find(({ id }) => id === 'locks-queue-behind-ddl');
  if (!scenario) throw new Error('not recorded');
  const session = createRecordedSession({
    incident: incidentOf(scenario, Date.now()),
    recordings: createRecordings(scenario.tool_outputs, normalInput(allTools)),
    signal,
  });
  const make = replayPlaybook(runbooks);
  const { diagnosis } = await investigate(session, make(scenario, session));
  const { incident, events, toolCalls } = session.record();
  const concluded: IncidentEvent = {
    type: 'diagnosis.concluded',
    round: 1,
    diagnosis,
    seq: 1_000,
    incidentId: incident.id,
    at: new Date().toISOString(),
  };
  const record = {
    incident,
    toolCalls,
    events: [...events, concluded],
    alerts: [],
    actions: [],
    episodes: [],
    denials: [],
  };

  const report = await replayIncident({ record, make, name: 'playbook', tools: allTools, runbooks, signal });
  expect(report.replayed.diagnosis).toEqual(diagnosis);
  expect(report.compared).toEqual({
    sameVerdict: true,
    sameCategory: true,
    causeLikeness: 1,
    confidenceChange: 0,
    costChangeUsd: 0,
    onlyRecorded: [],
    onlyReplayed: [],
  });
  expect(report.replayed.tools).toEqual(report.recorded.tools);
  expect(replayTable(report)).toContain('The causes share 100 % of their words.');
});
