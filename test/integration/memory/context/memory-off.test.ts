import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MessagesRequest, ScriptedReply } from '../../../../playground/claude/scenario.ts';
import { seedStores } from '../../../../src/memory/documents/seed-stores.ts';
import { boxTools, type Machine } from '../../../support/core.ts';
import { type MemoryRig, memoryRig } from './rig.ts';

/** MEMORY_ENABLED=false for whole incidents: of the playbook, and of Claude. */
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };

/** Tries to read and to write memory, and then leaves it to a person. */
function detective(request: MessagesRequest): ScriptedReply {
  const offered = new Set((request.tools ?? []).map(({ name }) => name));
  if (offered.has('report_triage'))
    return { blocks: [{ tool: 'report_triage', input: { severity: 'critical', reason: 'broken' } }] };
  if (request.messages.length === 1)
    return {
      blocks: [
        { tool: 'box_state', input: {} },
        { tool: 'load_toolset', input: { toolset: 'memory', include_write_tools: true } },
        { tool: 'memory_list', input: {} },
      ],
    };
  if (request.messages.length === 3)
    return { blocks: [{ tool: 'memory_remember', input: { path: 'a', title: 'A', content: 'Kept?' } }] };
  const report = { verdict: 'cannot_tell', rootCause: 'Unclear.', confidence: 0.2 };
  return { blocks: [{ tool: 'report_diagnosis', input: report }] };
}

let rig: MemoryRig;
/** Then the playbook takes over. */
let refuses = false;
beforeAll(async () => {
  const never = { collection: () => expect.unreachable('Chroma was asked') };
  rig = await memoryRig({
    scenario: (request) => (refuses ? { blocks: [], stop: 'refusal' } : detective(request)),
    tools: boxTools(machine),
    enabled: false,
    vectors: never,
  });
  // As a deployment that had memory on before: what is there is neither read by itself nor added to.
  await seedStores(rig.sql);
  rig.memory.start([]);
});
afterAll(() => rig.close());

const memoryEvents = (events: readonly { readonly type: string }[]) =>
  events.filter(({ type }) => type === 'memory.recalled' || type === 'memory.context.loaded');

test('Claude gets nothing, no event tells of it, its tools are there and its writes are denied', async () => {
  const id = await rig.open();
  const record = await rig.until(id, 'reported');
  expect(memoryEvents(record.events)).toEqual([]);
  const sent = JSON.stringify(rig.claude.requests.map(({ body }) => body.messages));
  expect(sent).not.toMatch(/sentry_memory_context>|untrusted_memory_candidates>/);
  const offered = (rig.claude.requests.at(-1)?.body.tools ?? []).map(({ name }) => name);
  expect(offered).toContain('memory_remember');
  expect(record.toolCalls.find(({ tool }) => tool === 'memory_remember')).toMatchObject({
    state: 'refused',
    code: 'MEMORY_POLICY_DENIED',
  });
  expect(await rig.sql`SELECT FROM memory_usage`).toEqual([]);
});

test('an incident ends as ever: nothing is recalled, indexed or sent to Chroma, and its episode is recorded', async () => {
  refuses = true;
  const id = await rig.open();
  const proposed = await rig.until(id, 'awaiting_approval');
  const [action] = proposed.actions;
  if (!action) throw new Error('nothing was proposed');
  const { planHash } = action;
  const decision = { by: 'UONCALL', decision: 'approve', planHash, reason: '', anotherWay: false } as const;
  await rig.core.approvals.decide({ actionId: action.id, ...decision });
  const record = await rig.until(id, 'resolved');
  expect(memoryEvents(record.events)).toEqual([]);
  expect(record.episodes).toMatchObject([{ success: true }]);
  for (const table of [rig.sql`SELECT FROM memory_outbox`, rig.sql`SELECT FROM search_entry`])
    expect(await table).toEqual([]);
});
