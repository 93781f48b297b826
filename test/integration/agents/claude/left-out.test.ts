import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MessagesRequest, ScriptedReply } from '../../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../../src/agents/claude/create-claude.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { IncidentState } from '../../../../src/core/incident.ts';
import { openReads } from '../../../../src/incidents/failed-reads/open-reads.ts';
import { createRetryRead } from '../../../../src/incidents/failed-reads/retry-read.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import {
  boxAlert,
  boxInvestigator,
  boxTools,
  type Core,
  createCore,
  findsNothing,
  type Machine,
} from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { waitFor } from '../../../support/wait-for.ts';

const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;

/** The playbook knows nothing of this, so what the model left out is all there is. */
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({ scenario: script });
  const tools = boxTools(machine);
  core = await createCore({
    url: database.url,
    tools,
    investigator: {
      ...boxInvestigator,
      diagnose: async () => findsNothing,
    },
    claude: createClaude({
      llm: createModelGateway({ backend: createAnthropicBackend({ apiKey: 'k', baseUrl: claude.url }) }),
      tools,
      targets: ['box'],
      toolCalls: async (id: IncidentId) => (await core.records.load(id))?.toolCalls ?? [],
    }),
  });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await claude.close();
  await database.drop();
});

const look = { tool: 'box_state', input: { target: 'box' } };

/** Spends all it may in its first message and asks for more; in the next round it goes by what was read since. */
function script(request: MessagesRequest): ScriptedReply {
  const tools = (request.tools ?? []).map(({ name }) => name);
  if (tools.includes('report_triage'))
    return { blocks: [{ tool: 'report_triage', input: { severity: 'critical', reason: 'x' } }] };
  if (!tools.includes('report_diagnosis'))
    return { blocks: [{ tool: 'report_no_action', input: { reason: 'Nothing is safe.' } }] };
  const said = JSON.stringify(request.messages);
  const read = /read_since.*?tool_call_id[^t]*(tc_[a-z0-9]+)/.exec(said)?.[1];
  if (read === undefined)
    return request.messages.length === 1
      ? { blocks: [{ tool: 'nothing_like_it', input: {} }], outputTokens: 100_000 }
      : { blocks: [look] };
  const evidence = [{ claim: 'It is broken.', toolCallIds: [read], quote: 'broken: true' }];
  const diagnosis = { verdict: 'cause_found', rootCause: 'The box is broken.', confidence: 0.95, evidence };
  return { blocks: [{ tool: 'report_diagnosis', input: diagnosis }] };
}

it('what the model had no budget left for is not run, gets a button, and the model goes on with what it shows', async () => {
  const readAgain = createRetryRead(core, { mayAsk: async () => undefined, readerOf: () => null });
  const { incidentId: id } = await core.accept(boxAlert());
  if (!id) throw new Error('not accepted');
  const until = (state: IncidentState, round: number) =>
    waitFor(`${state} in round ${round}`, async () => {
      const record = await core.records.load(id);
      return record?.incident.state === state && record.incident.round === round ? record : null;
    });

  const first = await until('reported', 1);
  const [open] = openReads(first);
  expect(open).toMatchObject({
    call: { tool: 'box_state', state: 'refused', code: 'NOT_RUN' },
    why: { way: 'run' },
  });
  expect(open?.why.reason).toMatch(/^Not run: .* money/);
  expect(first.toolCalls.filter(({ state }) => state === 'ok')).toEqual([]);

  const read = { incidentId: id, toolCallId: open!.call.id, hash: open!.hash };
  expect(await readAgain.ask(read, 'UONCALL')).toMatchObject({ ok: true });
  const last = await until('reported', 2);
  // One read in all: the model has had it from the record, and its claim stands on it.
  const [run, ...more] = last.toolCalls.filter(({ state }) => state === 'ok');
  expect(more).toEqual([]);
  expect(last.events.findLast((event) => event.type === 'diagnosis.concluded')).toMatchObject({
    diagnosis: { verdict: 'cause_found', confidence: 0.95, evidence: [{ toolCallIds: [run?.id] }] },
  });
  expect(last.events.some((event) => event.type === 'plan.none')).toBe(true);
});
