import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { MessagesRequest, ScriptedReply } from '../../../../playground/claude/scenario.ts';
import { blocksOf, toolResultTexts } from '../../../../playground/claude/scenario.ts';
import {
  createScriptedClaude,
  type RecordedRequest,
  type ScriptedClaude,
} from '../../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../../src/agents/claude/create-claude.ts';
import { openModelGuard } from '../../../../src/app/model-guard.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { Json } from '../../../../src/core/tool-call.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import { priceOf } from '../../../../src/llm/pricing.ts';
import { redact, redactJson } from '../../../../src/safety/screen/redact.ts';
import { defineReadTool, type Tool } from '../../../../src/tools/define.ts';
import { boxAlert, boxTarget, boxTools, type Core, createCore, type Machine } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** An incident whose history the server sums up half-way, on the real engine, gate, guard, audit log and record. */
const PERSON = 'mara.lindqvist@customers.example.com';
const SECRET = ['xoxb', '1234567890', 'abcdefghijklmnop'].join('-');
// The dearer one would reach its limit of dollars with so many tokens.
const MODEL = 'claude-sonnet-5-5';
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };

const boxLog: Tool = defineReadTool({
  name: 'box_log',
  description: 'The last lines of the log.',
  kind: 'read',
  domain: 'postgres',
  input: z.strictObject({}),
  timeoutMs: 2_000,
  run: async () => ({ text: `locked by ${PERSON}\ntoken ${SECRET}`, data: null }),
});

let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;
let guard: Awaited<ReturnType<typeof openModelGuard>> | undefined;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({
    scenario,
    summary: (request) => {
      const person = /\[redacted:email#\d+\]/.exec(JSON.stringify(request.messages))?.[0] ?? 'nobody';
      return { blocks: [{ summary: `${person} broke it, tc_000000000000 shows "broken: true".` }] };
    },
  });
  const tools = [...boxTools(machine), boxLog];
  const history = (id: string) => {
    if (!guard) throw new Error('no guard yet');
    return guard.history(id);
  };
  core = await createCore({
    url: database.url,
    tools,
    gate: {
      redact,
      redactJson: (value: Json) => redactJson(value),
      targets: new Map([[boxTarget.name, boxTarget]]),
    },
    claude: createClaude({
      llm: createModelGateway({
        backend: createAnthropicBackend({ apiKey: 'k', baseUrl: claude.url }),
        model: MODEL,
        retry: { baseDelayMs: 1 },
      }),
      tools,
      targets: ['box'],
      guard: { history, report: async () => undefined },
      toolCalls: async (id: IncidentId) => (await core.records.load(id))?.toolCalls ?? [],
    }),
  });
  guard = await openModelGuard({
    sql: core.sql,
    records: core.records,
    audit: core.audit,
    policy: { injection: 'mark', privateIps: false },
  });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await claude.close();
  await database.drop();
});

const calls = [
  { tool: 'box_log', input: { why: 'who' } },
  { tool: 'box_state', input: { why: 'how' } },
  { tool: 'box_state', input: { why: 'how now' } },
];

/** Three reads, so dear that the history counts as too long after them; then a report from what it still has. */
function scenario(request: MessagesRequest): ScriptedReply {
  const offered = new Set((request.tools ?? []).map(({ name }) => name));
  if (offered.has('report_triage'))
    return { blocks: [{ tool: 'report_triage', input: { severity: 'critical', reason: 'broken' } }] };
  if (offered.has('report_no_action'))
    return { blocks: [{ tool: 'report_no_action', input: { reason: 'Look.' } }] };
  const turn = toolResultTexts(request).length;
  const read = calls[turn];
  if (!isSummedUp(request) && read !== undefined)
    return { blocks: [{ thinking: 'on' }, read], ...(turn === 2 ? { outputTokens: 150_000 } : {}) };
  return { blocks: [{ tool: 'report_diagnosis', input: report(request) }] };
}

const isSummedUp = ({ messages: [first] }: MessagesRequest): boolean =>
  first !== undefined && blocksOf(first)[0]?.type === 'compaction';

/** Cites the log by its id in the list that code made, and, as the summary has it, a call that never was. */
function report(request: MessagesRequest): object {
  const listed = blocksOf(request.messages.at(-1) ?? { role: 'user', content: '' })
    .map((block) => String(block['text'] ?? ''))
    .find((text) => text.includes('<work_so_far>'));
  const person = /\[redacted:email#\d+\]/.exec(JSON.stringify(request.messages))?.[0] ?? 'nobody';
  const known = /tool_call_id\\":\\"(tc_\w+)\\",\\"tool\\":\\"box_log/.exec(listed ?? '')?.[1];
  return {
    verdict: 'cause_found',
    rootCause: 'Somebody locked the box.',
    confidence: 0.95,
    evidence: [
      { claim: 'The log names who locked it.', toolCallIds: [known ?? 'none'], quote: `locked by ${person}` },
      { claim: 'It is broken.', toolCallIds: ['tc_000000000000'], quote: 'broken: true' },
    ],
  };
}

/** What the server wrote down for one request, iterations included, at list price. */
function charged({ usage }: RecordedRequest): number {
  const price = priceOf(MODEL);
  if (!usage || !price) return 0;
  const passes = [usage, ...((usage['iterations'] as Record<string, unknown>[] | undefined) ?? [])];
  const sum = (name: string) => passes.reduce((total, pass) => total + Number(pass[name] ?? 0), 0);
  return (
    (sum('input_tokens') * price.input +
      sum('cache_creation_input_tokens') * price.cacheWrite5m +
      sum('cache_read_input_tokens') * price.cacheRead +
      sum('output_tokens') * price.output) /
    1e6
  );
}

it('goes on with its evidence, drops what only the summary made up, hides what it hid, and counts what it cost', async () => {
  const { incidentId } = await core.accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  const state = async () => (await core.records.incident(incidentId))?.state;
  await waitFor('a report', async () => (await state()) === 'reported', { timeoutMs: 60_000 });
  const record = await core.records.load(incidentId);
  if (!record) throw new Error('no record');

  expect(claude.requests.filter(({ problem }) => problem)).toEqual([]);
  expect(claude.requests.filter(({ body }) => body['compaction'] !== undefined)).toHaveLength(1);
  expect(record.incident.investigator).toBe('claude');

  const diagnosis = record.events.flatMap((event) =>
    event.type === 'diagnosis.concluded' ? [event.diagnosis] : [],
  )[0];
  expect(diagnosis?.evidence.map(({ claim }) => claim)).toEqual(['The log names who locked it.']);
  expect(diagnosis?.confidence).toBeLessThan(0.95);
  expect(record.events.flatMap((event) => (event.type === 'claim.dropped' ? [event.reason] : []))).toEqual([
    expect.stringMatching(/never happened/),
  ]);

  const sent = claude.requests.map(({ body }) => JSON.stringify(body)).join('\n');
  expect(sent).toContain('[redacted:email#');
  expect(sent).not.toContain(PERSON);
  expect(sent).not.toContain(SECRET);

  const usd = claude.requests.reduce((sum, request) => sum + charged(request), 0);
  expect(usd).toBeGreaterThan(1.5);
  expect(record.incident.costUsd).toBeCloseTo(usd, 6);
});
