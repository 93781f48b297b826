import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { MessagesRequest, ScriptedReply } from '../../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../../src/agents/claude/create-claude.ts';
import type { Investigator } from '../../../../src/agents/ports.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { IncidentState } from '../../../../src/core/incident.ts';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { type CostLimits, createCostBreaker } from '../../../../src/safety/limits/cost-breaker.ts';
import { defineReadTool, type Tool } from '../../../../src/tools/define.ts';
import { boxAlert, boxTools, type Core, createCore, type Machine } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** Several detectives on the real engine, gate, record and breaker: what a restart asks again, and what a *Stop* ends. */
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
const LIMITS: CostLimits = { usd: 50, windowMs: 600_000, perIncidentUsd: 10, perDayUsd: 100 };
const CAUSES = ['part 0 is worn', 'part 1 is worn', 'part 2 is worn'];
let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;
let policyPath: string;
/** Explanations whose test is held when it is about to report. */
let held: readonly string[];
/** The detective has a claim of a call that a test has made up. */
let invents: boolean;

const boxPart: Tool = defineReadTool({
  name: 'box_part',
  description: 'Looks at one part of the box.',
  kind: 'read',
  domain: 'postgres',
  input: z.strictObject({ part: z.int() }),
  timeoutMs: 10_000,
  run: async (_, { part }) => ({ text: `part ${part} of the box is worn`, data: { part } }),
});

beforeEach(async () => {
  Object.assign(machine, { broken: true, generation: 1, effects: 0, helps: true });
  held = [];
  invents = false;
  policyPath = join(scratchDir(), 'policy.yaml');
  writeFileSync(
    policyPath,
    'rules: [{ name: everything }]\neffort: [{ match: alertname="BoxBroken", effort: full }]\n',
  );
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({ scenario: box });
  core = await start();
});
afterEach(async () => {
  claude.release();
  await core.stop();
  await claude.close();
  await database.drop();
});

async function start(as: (claude: Investigator) => Investigator = (same) => same): Promise<Core> {
  const tools = [...boxTools(machine), boxPart];
  const started: Core = await createCore({
    url: database.url,
    tools,
    policyPath,
    claude: as(
      createClaude({
        llm: createModelGateway({
          backend: createAnthropicBackend({ apiKey: 'test-key', baseUrl: claude.url }),
          retry: { baseDelayMs: 1 },
        }),
        tools,
        targets: ['box'],
        breaker: {
          reserve: (call) => {
            const { sql } = started;
            return createCostBreaker({ sql, audit: createAuditLog(sql), limits: LIMITS, log: quiet }).reserve(
              call,
            );
          },
        },
        toolCalls: async (id: IncidentId) => (await started.records.load(id))?.toolCalls ?? [],
      }),
    ),
  });
  await started.start();
  return started;
}

const offers = (request: MessagesRequest, tool: string): boolean =>
  (request.tools ?? []).some(({ name }) => name === tool);
const firstTurn = (request: MessagesRequest): string => JSON.stringify(request.messages[0]);
const testOf = (request: MessagesRequest): string =>
  /\\"explanation\\": \\"([^"\\]+)/.exec(firstTurn(request))?.[1] ?? '';

function box(request: MessagesRequest): ScriptedReply {
  const says = (tool: string, input: object): ScriptedReply => ({ blocks: [{ tool, input }] });
  if (offers(request, 'report_triage'))
    return says('report_triage', { severity: 'critical', reason: 'broken' });
  if (offers(request, 'report_explanations'))
    return says('report_explanations', {
      explanations: CAUSES.map((cause, part) => ({ cause, disprovedBy: `box_part ${part}` })),
    });
  if (offers(request, 'report_test')) return test(request);
  if (offers(request, 'report_no_action'))
    return { blocks: [{ text: 'Mend.' }, { tool: 'box_mend', input: { how: 'glue', why: 'It mends it.' } }] };
  const id = /tc_[a-z0-9]{12}/.exec(firstTurn(request))?.[0] ?? '';
  const part = new RegExp(`${id}[^}]*part (\\d) of the box`).exec(firstTurn(request))?.[1] ?? '';
  return says('report_diagnosis', {
    verdict: 'cause_found',
    rootCause: `Part ${part} of the box is worn.`,
    confidence: 0.95,
    evidence: [
      { claim: `Part ${part} is worn.`, toolCallIds: [id], quote: `part ${part} of the box is worn` },
      ...(invents
        ? [{ claim: 'It is worn.', toolCallIds: ['tc_00000000dead'], quote: 'part 7 of the box is worn' }]
        : []),
    ],
  });
}

function test(request: MessagesRequest): ScriptedReply {
  const cause = testOf(request);
  const part = CAUSES.indexOf(cause);
  if (request.messages.length === 1) return { blocks: [{ tool: 'box_part', input: { part } }] };
  const id = /tc_[a-z0-9]{12}/.exec(JSON.stringify(request.messages.at(-1)))?.[0] ?? '';
  return {
    blocks: [
      {
        tool: 'report_test',
        input: {
          end: 'stands',
          says: 'It is worn.',
          evidence: [{ claim: 'It is worn.', toolCallIds: [id], quote: `part ${part} of the box is worn` }],
        },
      },
    ],
    ...(held.includes(cause) ? { fault: { kind: 'stall', afterBytes: 0 } } : {}),
  };
}

const bodies = (since = 0): readonly MessagesRequest[] =>
  claude.requests.slice(since).map(({ body }) => body as unknown as MessagesRequest);
const askedFor = (tool: string, since = 0): readonly MessagesRequest[] =>
  bodies(since).filter((body) => offers(body, tool));

async function open(): Promise<IncidentId> {
  const { incidentId } = await core.accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  return incidentId;
}

async function until(id: IncidentId, state: IncidentState) {
  let seen: unknown;
  await waitFor(
    `${id} to be ${state}`,
    async () => {
      seen = (await core.records.incident(id))?.state;
      return seen === state;
    },
    { seen: () => seen },
  );
  const record = await core.records.load(id);
  if (!record) throw new Error('no record');
  return record;
}

const paidFor = async (id: IncidentId): Promise<number> =>
  (await core.sql`SELECT 1 FROM usage WHERE incident_id = ${id}`).length;

/** All have read; so many tests are done and on record, the rest is held. */
async function whileTesting(id: IncidentId): Promise<void> {
  await waitFor('the tests to report', async () => askedFor('report_test').length === 2 * CAUSES.length);
  await waitFor('what is done to be on record', async () => {
    const rows = await core.sql`
      SELECT 1 FROM dbos.operation_outputs o JOIN dbos.workflow_status w USING (workflow_uuid)
       WHERE w.queue_partition_key = ${id} AND o.function_name LIKE '%claude:specialist:%'`;
    return rows.length === CAUSES.length - held.length;
  });
}

async function forgetSideBySide(): Promise<void> {
  const { sql, close } = openDatabase(database.url);
  await sql`UPDATE dbos.operation_outputs SET output = replace(output, '"sideBySide":true,', '')`;
  await close();
}

describe('several detectives', () => {
  it.each([
    ['one', CAUSES.slice(1, 2)],
    ['the first and the last', [CAUSES[0], CAUSES[2]] as string[]],
    ['all', CAUSES],
  ])('that a restart cuts off: %s, asked again alone; what was spent is on record', async (_, cut) => {
    held = cut;
    const id = await open();
    await whileTesting(id);
    await core.stop();
    const before = claude.requests.length;
    held = [];
    core = await start();
    const record = await until(id, 'awaiting_approval');

    expect(askedFor('report_explanations')).toHaveLength(1);
    expect(askedFor('report_test', before).map(testOf).toSorted()).toEqual([...cut, ...cut].toSorted());
    expect(record.events.filter(({ type }) => type === 'investigator.fallback')).toEqual([]);
    // Every message but those that were cut off.
    expect(await paidFor(id)).toBe(claude.requests.length - cut.length);
    expect(record.incident.costUsd).toBeGreaterThan(0);
    expect(record.incident.costUsd).toBeLessThan(LIMITS.perIncidentUsd);
    // The detective builds on what the others read.
    const concluded = record.events.find((event) => event.type === 'diagnosis.concluded');
    expect(concluded?.diagnosis).toMatchObject({
      verdict: 'cause_found',
      evidence: [{ claim: expect.stringMatching(/^Part [012] is worn/) }],
      unknown: [],
    });
  });

  it('give the detective calls to cite, and what never happened falls all the same', async () => {
    invents = true;
    const { events } = await until(await open(), 'reported');
    const concluded = events.find((event) => event.type === 'diagnosis.concluded');
    expect(concluded?.diagnosis.evidence).toMatchObject([
      { claim: expect.stringMatching(/^Part [012] is worn/) },
    ]);
    const dropped = events.find((event) => event.type === 'claim.dropped');
    expect(dropped?.reason).toContain('tc_00000000dead, which never happened');
  });

  it('all end when a person stops the incident, without a failure, and nobody is asked any more', async () => {
    held = CAUSES;
    const id = await open();
    await whileTesting(id);
    const cut = claude.requests.filter(
      ({ body }) =>
        offers(body as unknown as MessagesRequest, 'report_test') &&
        (body.messages as readonly unknown[]).length > 1,
    );
    expect(cut).toHaveLength(CAUSES.length);
    expect(await core.steering.stop(id, 'UONCALL', 'wait')).toMatchObject({ ok: true });
    await waitFor('the model calls to end', async () => cut.every(({ goneAt }) => goneAt !== undefined));
    await waitFor('the turn to end', async () => {
      const rows = await core.sql`
        SELECT 1 FROM dbos.workflow_status WHERE queue_partition_key = ${id} AND status IN ('ENQUEUED', 'PENDING')`;
      return rows.length === 0;
    });
    expect(await core.sql`SELECT incident_id FROM turn_failure`).toEqual([]);
    expect(await core.sql`SELECT 1 FROM spend_reservation`).toHaveLength(0);
    const before = claude.requests.length;
    held = [];
    expect(await core.steering.resume(id, 'UONCALL')).toMatchObject({ ok: true });
    // Nothing came between: what is asked now is what *Resume* asked for.
    const record = await until(id, 'awaiting_approval');
    expect(offers(bodies(before)[0] as MessagesRequest, 'report_explanations')).toBe(true);
    expect(record.events.filter(({ type }) => type === 'investigator.fallback')).toEqual([]);
  });

  it('are none in a turn that a version without them began, which goes on as it was', async () => {
    await core.stop();
    // That version looked with one at full effort, too.
    core = await start((same) => ({
      ...same,
      diagnose: (work, triage) =>
        same.diagnose({ ...work, incident: { ...work.incident, effort: 'adaptive' } }, triage),
    }));
    claude.play((request) =>
      offers(request, 'report_diagnosis')
        ? request.messages.length === 1
          ? { blocks: [{ tool: 'box_part', input: { part: 0 } }] }
          : { fault: { kind: 'stall', afterBytes: 0 } }
        : box(request),
    );
    const id = await open();
    await waitFor('the detective to have read', async () => askedFor('report_diagnosis').length === 2);
    await core.stop();
    // Its record says nothing of them.
    await forgetSideBySide();
    claude.play((request) => {
      if (!offers(request, 'report_diagnosis')) return box(request);
      const tc = /tc_[a-z0-9]{12}/.exec(JSON.stringify(request.messages))?.[0] ?? '';
      const quote = 'part 0 of the box is worn';
      const evidence = [{ claim: 'Part 0 is worn.', toolCallIds: [tc], quote }];
      const report = { verdict: 'cause_found', rootCause: 'Part 0 is worn.', confidence: 0.95, evidence };
      return { blocks: [{ tool: 'report_diagnosis', input: report }] };
    });
    core = await start();
    const record = await until(id, 'awaiting_approval');
    expect(askedFor('report_explanations')).toEqual([]);
    expect(askedFor('report_diagnosis').map(({ messages }) => messages.length)).toEqual([1, 3, 3]);
    expect(record.events.filter(({ type }) => type === 'investigator.fallback')).toEqual([]);
  });
});
