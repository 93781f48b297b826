import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MessagesRequest, ScriptedReply } from '../../../../playground/claude/scenario.ts';
import { toolResultTexts } from '../../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../../src/agents/claude/create-claude.ts';
import { countingUsage } from '../../../../src/app/model-metrics.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import { why } from '../../../../src/incidents/questions/why.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import { priceOf } from '../../../../src/llm/pricing.ts';
import { type Cost, costLines, costReport } from '../../../../src/record/cost.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { type CostLimits, createCostBreaker } from '../../../../src/safety/limits/cost-breaker.ts';
import { drawRoot } from '../../../../src/slack/views/blocks/root.ts';
import { boxAlert, boxTools, type Core, createCore, type Machine } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** Every place that says what the model cost, against the usage that the server itself wrote down. */
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
const metrics = new Registry();
const limits: CostLimits = { usd: 5, windowMs: 600_000, perIncidentUsd: 10, perDayUsd: 100 };
let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({ scenario });
  const llm = createModelGateway({
    backend: createAnthropicBackend({ apiKey: 'test-key', baseUrl: claude.url }),
    retry: { baseDelayMs: 1 },
  });
  const tools = boxTools(machine);
  const started: Core = await createCore({
    url: database.url,
    tools,
    records: (records) => countingUsage(records, metrics),
    claude: createClaude({
      llm,
      tools,
      targets: ['box'],
      breaker: {
        // Once the core is there: the breaker counts in its database.
        reserve: (call) =>
          createCostBreaker({ sql: core.sql, audit: createAuditLog(core.sql), limits, log: quiet }).reserve(
            call,
          ),
      },
      toolCalls: async (id: IncidentId) => (await started.records.load(id))?.toolCalls ?? [],
    }),
  });
  core = started;
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await claude.close();
  await database.drop();
});

/** A triage, a detective of three turns with growing cached history, and a surgeon, each thinking. */
function scenario(request: MessagesRequest): ScriptedReply {
  const offered = new Set((request.tools ?? []).map((tool) => tool.name));
  const thinking = { thinking: 'What is known, what is not, and what would tell them apart. '.repeat(40) };
  const triage = { tool: 'report_triage', input: { severity: 'critical', reason: 'broken' } };
  if (offered.has('report_triage')) return { blocks: [thinking, triage], outputTokens: 4_321 };
  if (offered.has('report_no_action'))
    return {
      blocks: [thinking, { tool: 'box_mend', input: { how: 'glue', why: 'It mends.' } }],
      outputTokens: 7_777,
    };
  const results = toolResultTexts(request);
  if (results.length < 2)
    return {
      blocks: [thinking, { tool: 'box_state', input: results.length === 0 ? {} : { why: 'again' } }],
      outputTokens: 15_151,
    };
  const id = /"tool_call_id":"([^"]+)"/.exec(results[0] ?? '')?.[1] ?? '';
  const evidence = [{ claim: 'It says so.', toolCallIds: [id], quote: 'broken: true' }];
  const report = { verdict: 'cause_found', rootCause: 'The box is broken.', confidence: 0.95, evidence };
  return { blocks: [thinking, { tool: 'report_diagnosis', input: report }], outputTokens: 12_345 };
}

/** From what the server wrote into `usage`, by the price table. */
function charged(): number {
  return claude.requests.reduce((sum, { usage, body }) => {
    const price = priceOf(body.model);
    if (!usage || !price) return sum;
    const tokens = (name: string) => Number(usage[name] ?? 0);
    const created = usage['cache_creation'] as Record<string, number> | null | undefined;
    const written1h = created?.['ephemeral_1h_input_tokens'] ?? 0;
    return (
      sum +
      (tokens('input_tokens') * price.input +
        (tokens('cache_creation_input_tokens') - written1h) * price.cacheWrite5m +
        written1h * price.cacheWrite1h +
        tokens('cache_read_input_tokens') * price.cacheRead +
        tokens('output_tokens') * price.output) /
        1e6
    );
  }, 0);
}

const counted = async (name: string): Promise<number> =>
  (await metrics.metrics())
    .split('\n')
    .filter((line) => line.startsWith(name))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);

it('the server’s usage, the record, /sentry cost, the card, why and the metrics agree to the cent', async () => {
  // Overloaded first: what was never answered costs nothing.
  claude.failNext({ kind: 'http', status: 529 });
  const { incidentId } = await core.accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  await waitFor(
    'a proposal',
    async () => (await core.records.incident(incidentId))?.state === 'awaiting_approval',
    { timeoutMs: 60_000 },
  );
  const record = await core.records.load(incidentId);
  if (!record) throw new Error('no record');
  const usd = charged();
  expect(usd).toBeGreaterThan(0.5);
  const cents = `$${usd.toFixed(2)}`;

  expect(record.incident.costUsd).toBeCloseTo(usd, 6);
  const report = await costReport(core.sql, incidentId);
  expect(report.incident?.usd).toBeCloseTo(usd, 6);
  expect(report.today.usd).toBeCloseTo(usd, 6);
  expect(report.thirtyDays.usd).toBeCloseTo(usd, 6);
  expect(report.today.by.map((each) => each.role).toSorted()).toEqual(['detective', 'surgeon', 'triage']);
  expect(report.today.by.reduce((sum, each) => sum + each.usd, 0)).toBeCloseTo(usd, 6);
  expect(costLines(report)[0]).toContain(`${incidentId}: ${cents} in 5 calls`);
  expect(JSON.stringify(drawRoot(record).blocks)).toContain(cents);
  expect(why(record)).toContain(usd.toFixed(4));
  expect(await counted('sentry_model_cost_usd_total')).toBeCloseTo(usd, 6);
  expect(await counted('sentry_model_calls_total')).toBe(5);

  const server = (name: string): number =>
    claude.requests.reduce((sum, { usage }) => sum + Number(usage?.[name] ?? 0), 0);
  const today: Cost = report.today;
  expect(today.inputTokens).toBe(server('input_tokens'));
  expect(today.cacheReadTokens).toBe(server('cache_read_input_tokens'));
  expect(today.cacheReadTokens).toBeGreaterThan(0);
  expect(today.cacheWriteTokens).toBe(server('cache_creation_input_tokens'));
  expect(today.outputTokens).toBe(server('output_tokens'));
  const thinking = claude.requests.reduce((sum, { usage }) => {
    const details = usage?.['output_tokens_details'] as { thinking_tokens?: number } | null | undefined;
    return sum + (details?.thinking_tokens ?? 0);
  }, 0);
  expect(today.thinkingTokens).toBe(thinking);
  expect(await counted('sentry_model_tokens_total')).toBe(
    today.inputTokens + today.cacheReadTokens + today.cacheWriteTokens + today.outputTokens + thinking,
  );
  // Nothing is left reserved.
  expect(await core.sql`SELECT 1 FROM spend_reservation`).toHaveLength(0);
});

it('an open breaker sends the next incident to its runbooks, which go on, and asks the model nothing', async () => {
  await core.sql`INSERT INTO usage (role, model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_usd)
                 VALUES ('detective', 'claude-opus-5-5', 0, 0, 0, 0, 5)`;
  const asked = claude.requests.length;
  machine.generation += 1;
  const { incidentId } = await core.accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  await waitFor(
    'a proposal',
    async () => (await core.records.incident(incidentId))?.state === 'awaiting_approval',
    { timeoutMs: 60_000 },
  );
  const record = await core.records.load(incidentId);
  expect(claude.requests.length).toBe(asked);
  expect(record?.incident).toMatchObject({ investigator: 'playbook', costUsd: 0 });
  const fallback = record?.events.find((event) => event.type === 'investigator.fallback');
  expect(JSON.stringify(fallback)).toContain('More than $5 in 10 minutes was spent on the model');
});
