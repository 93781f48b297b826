import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { loadScenarios } from '../../../src/cli/evals-inputs.ts';
import type { IncidentEvent } from '../../../src/domain/event.ts';
import { incidentOf } from '../../../src/evaluation/incident-of.ts';
import { replayPlaybook } from '../../../src/evaluation/investigators.ts';
import { createRecordedSession } from '../../../src/evaluation/recorded-session.ts';
import { createRecordings } from '../../../src/evaluation/recordings.ts';
import { replayIncident } from '../../../src/evaluation/replay.ts';
import { replayTable } from '../../../src/evaluation/replay-table.ts';
import { normalInput } from '../../../src/evaluation/run-evals.ts';
import { investigate } from '../../../src/evaluation/run-scenario.ts';
import { loadRunbooks } from '../../../src/memory/runbooks/load-runbooks.ts';
import { allTools } from '../../../src/tools/all.ts';
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
