import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MessagesRequest, ScriptedReply } from '../../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../../src/agents/claude/create-claude.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import { boxAlert, boxTools, type Core, createCore, type Machine } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** A model that fails in every way, on the real engine: the incident goes on with the playbook to its end, and nothing half is left. */
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({ scenario: () => ({}) });
  const tools = boxTools(machine);
  core = await createCore({
    url: database.url,
    tools,
    claude: createClaude({
      llm: createModelGateway({
        backend: createAnthropicBackend({ apiKey: 'k', baseUrl: claude.url, idleMs: 500 }),
        retry: { baseDelayMs: 1, maxRetryAfterMs: 20, maxAttempts: 2 },
      }),
      tools,
      targets: ['box'],
      toolCalls: async (id: IncidentId) => (await core.records.load(id))?.toolCalls ?? [],
    }),
  });
  await core.start();
});
afterAll(async () => {
  claude.release();
  await core.stop();
  await claude.close();
  await database.drop();
});

/** Half a sentence and a call that must not run. */
const HALF = {
  blocks: [{ text: 'The cause is certainly the' }, { tool: 'box_state', input: { target: 'box' } }],
} as const;

const AT_ONCE: readonly (readonly [string, ScriptedReply])[] = [
  ['429 for an hour', { fault: { kind: 'http', status: 429, headers: { 'retry-after': '3600' } } }],
  ['529', { fault: { kind: 'http', status: 529 } }],
  ['garbage', { ...HALF, fault: { kind: 'garbage', afterBytes: 900 } }],
  ['an error event', { ...HALF, fault: { kind: 'error_event', afterBytes: 900 } }],
];
const HALF_WAY: readonly (readonly [string, ScriptedReply])[] = [
  ['a cut stream', { ...HALF, fault: { kind: 'cut', afterBytes: 900 } }],
  ['a stall', { ...HALF, fault: { kind: 'stall', afterBytes: 900 } }],
  ['a refusal', { ...HALF, stop: 'refusal' }],
  ['max_tokens', { ...HALF, stop: 'max_tokens' }],
];
/** The playbook's own: as the detective, and once more before it plans, since this one names no exact call. */
const ITS_READS = 2;

const isDetective = (request: MessagesRequest) =>
  (request.tools ?? []).some((tool) => tool.name === 'report_diagnosis');

describe('an incident whose model fails', () => {
  it.each(AT_ONCE)(
    'with %s from the first message on comes to its proposal by the playbook',
    async (_, reply) => {
      await comesThrough(() => reply, ITS_READS);
    },
  );

  it.each(HALF_WAY)('with %s in the detective’s second message does too', async (_, reply) => {
    await comesThrough((request) => {
      if (!isDetective(request))
        return { blocks: [{ tool: 'report_triage', input: { severity: 'critical', reason: 'x' } }] };
      return request.messages.length === 1
        ? { blocks: [{ tool: 'box_state', input: { target: 'box' } }] }
        : reply;
    }, ITS_READS + 1);
  });
});

async function comesThrough(
  scenario: (request: MessagesRequest) => ScriptedReply,
  reads: number,
): Promise<void> {
  claude.play(scenario);
  const { incidentId } = await core.accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  let state: string | undefined;
  const proposed = async () => {
    state = (await core.records.incident(incidentId))?.state;
    return state === 'awaiting_approval';
  };
  await waitFor('the proposal', proposed, { seen: () => state, timeoutMs: 15_000 });
  const record = await core.records.load(incidentId);
  const fallbacks = record?.events.filter((event) => event.type === 'investigator.fallback') ?? [];
  expect(fallbacks).toHaveLength(1);
  expect(JSON.stringify(record)).not.toContain('certainly the');
  expect(record?.incident.words).toBeNull();
  expect(record?.actions).toHaveLength(1);
  // Of the unfinished message nothing ran.
  // The validator's look whether the problem is there belongs to the proposal.
  const looks = record?.toolCalls.filter(({ tool, role }) => tool === 'box_state' && role !== 'validator');
  expect(looks).toHaveLength(reads);
  await core.steering.stop(incidentId, 'UONCALL', 'done');
}
