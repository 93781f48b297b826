import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MessagesRequest } from '../../../../playground/claude/scenario.ts';
import {
  createScriptedClaude,
  type RecordedRequest,
  type ScriptedClaude,
} from '../../../../playground/claude/scripted-claude.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import { type Database, openDatabase } from '../../../../src/infra/db/client.ts';
import { createAccept } from '../../../../src/ingest/accept.ts';
import { usdOf } from '../../../../src/llm/pricing.ts';
import { NO_USAGE } from '../../../../src/llm/types.ts';
import { createRecords } from '../../../../src/record/record.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { createCostBreaker } from '../../../../src/safety/limits/cost-breaker.ts';
import { startWorker, type Worker } from '../../../support/chaos-process.ts';
import { boxAlert, boxTarget } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { domainOf } from '../../../support/targets.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { box, CAUSES, LIMITS, offers, POLICY, STALLED, testOf } from './several-detectives.ts';

/** Processes of their own, ended by kill -9 in the midst of several detectives; the Messages API lives on and counts. */
const script = fileURLToPath(new URL('./detectives-worker.ts', import.meta.url));
let scratch: ScratchDatabase;
let database: Database;
let claude: ScriptedClaude;
let policy: string;
let worker: Worker | undefined;
/** Whether this request is not answered. */
let stalls: (request: MessagesRequest) => boolean;

beforeEach(async () => {
  stalls = () => false;
  policy = join(scratchDir(), 'policy.yaml');
  writeFileSync(policy, POLICY);
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url);
  claude = await createScriptedClaude({
    scenario: (request) => ({ ...box(request), ...(stalls(request) ? STALLED : {}) }),
  });
});
afterEach(async () => {
  await worker?.kill();
  await claude.close();
  await database.close();
  await scratch.drop();
});

async function live(budget = LIMITS.perIncidentUsd): Promise<void> {
  const options = { url: scratch.url, api: claude.url, policy, budget: String(budget) };
  worker = await startWorker(options, script);
}

async function open(): Promise<IncidentId> {
  const accept = createAccept(database.sql, [boxTarget], domainOf);
  const { incidentId } = await accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  return incidentId;
}

const isTest = ({ body }: RecordedRequest): boolean => offers(body, 'report_test');
const tests = (): readonly RecordedRequest[] => claude.requests.filter(isTest);
const isCut = ({ goneAt }: RecordedRequest): boolean => goneAt !== undefined;

async function testsOnRecord(id: IncidentId): Promise<number> {
  const rows = await database.sql`
    SELECT 1 FROM dbos.operation_outputs o JOIN dbos.workflow_status w USING (workflow_uuid)
     WHERE w.queue_partition_key = ${id} AND o.function_name LIKE '%claude:specialist:%'`;
  return rows.length;
}

const until = (id: IncidentId, state: string) =>
  waitFor(`${id} to be ${state}`, async () => {
    const record = await createRecords(database.sql).load(id);
    return record?.incident.state === state ? record : null;
  });

/** US dollars: what the server charges for these, cut off or not. */
const charged = (requests: readonly RecordedRequest[] = claude.requests): number =>
  requests.reduce((sum, { body, usage }) => {
    const tokens = (name: string) => Number(usage?.[name] ?? 0);
    const used = {
      ...NO_USAGE,
      input: tokens('input_tokens'),
      cacheRead: tokens('cache_read_input_tokens'),
      cacheWrite5m: tokens('cache_creation_input_tokens'),
      output: tokens('output_tokens'),
    };
    return sum + (usdOf(body.model, used) ?? 0);
  }, 0);

interface Ledger {
  readonly spent: number;
  readonly reserved: number;
  /** The most that one call has reserved. */
  readonly most: number;
}

async function ledger(id: IncidentId): Promise<Ledger> {
  const [row] = await database.sql<Ledger>`
    SELECT (SELECT coalesce(sum(cost_usd), 0) FROM usage WHERE incident_id = ${id})::float8 AS spent,
           (SELECT coalesce(sum(usd), 0) FROM spend_reservation WHERE incident_id = ${id})::float8 AS reserved,
           (SELECT coalesce(max(usd), 0) FROM spend_reservation WHERE incident_id = ${id})::float8 AS most`;
  if (!row) throw new Error('no row');
  return row;
}

/** The time of what the dead had reserved is up. */
const expire = () => database.sql`UPDATE spend_reservation SET until = clock_timestamp()`;

const MOMENTS: readonly (readonly [
  when: string,
  stalls: (request: MessagesRequest) => boolean,
  isReached: (id: IncidentId) => Promise<boolean>,
  cutOff: readonly string[],
])[] = [
  [
    'before the first answer to any test',
    (request) => offers(request, 'report_test'),
    async () => tests().length === CAUSES.length,
    CAUSES,
  ],
  [
    'when one test is on record and two are about to report',
    (request) => request.messages.length > 1 && CAUSES.slice(1).includes(testOf(request)),
    async (id) => tests().length === 2 * CAUSES.length && (await testsOnRecord(id)) === 1,
    CAUSES.slice(1),
  ],
  [
    'when all tests are on record and are being weighed',
    (request) => offers(request, 'report_diagnosis'),
    async () => claude.requests.some(({ body }) => offers(body, 'report_diagnosis')),
    [],
  ],
];

describe('several detectives whose process is killed', () => {
  it.each(MOMENTS)(
    '%s: what was tested is not paid again, and no cent is lost',
    async (_, held, isReached, cutOff) => {
      stalls = held;
      await live();
      const id = await open();
      await waitFor('the moment', () => isReached(id));
      await worker?.kill();
      await waitFor('the server to notice', async () => claude.requests.some(isCut));
      const before = claude.requests.length;
      const atDeath = await ledger(id);
      expect(charged()).toBeLessThanOrEqual(atDeath.spent + atDeath.reserved);
      // What was heard, to the cent.
      const heard = charged(claude.requests.filter((request) => !isCut(request)));
      expect(atDeath.spent).toBeCloseTo(heard, 8);

      stalls = () => false;
      await live();
      const record = await until(id, 'awaiting_approval');
      expect(record.events.filter(({ type }) => type === 'investigator.fallback')).toEqual([]);
      const again = claude.requests.slice(before).filter(isTest);
      expect(new Set(again.map(({ body }) => testOf(body)))).toEqual(new Set(cutOff));
      expect(claude.requests.filter(({ body }) => offers(body, 'report_explanations'))).toHaveLength(1);
      expect(record.incident.costUsd).toBeCloseTo(charged(claude.requests.filter((each) => !isCut(each))), 8);

      // The time of what was cut off is up: from then on it is spent, at its most.
      await expire();
      const breaker = createCostBreaker({
        sql: database.sql,
        audit: createAuditLog(database.sql),
        limits: LIMITS,
        log: quiet,
      });
      const { signal } = new AbortController();
      await breaker.reserve({ incidentId: null, usd: 0.01, forMs: 1_000, waitMs: 0, signal });
      const atEnd = await ledger(id);
      expect(atEnd.spent).toBeCloseTo(record.incident.costUsd + atDeath.reserved, 8);
      expect(charged()).toBeLessThanOrEqual(atEnd.spent);
      expect((await createRecords(database.sql).incident(id))?.costUsd).toBeCloseTo(atEnd.spent, 8);
    },
  );

  it('again and again, spend the incident’s budget and no more: then nobody is asked', async () => {
    const budget = 1;
    let most = 0;
    const holds = async (id: IncidentId): Promise<Ledger> => {
      // Before the ledger is read: what is asked meanwhile has been reserved before.
      const answered = charged();
      const now = await ledger(id);
      most = Math.max(most, now.most);
      // As ever: the last call that is let begins below the limit.
      expect(now.spent + now.reserved).toBeLessThan(budget + most);
      expect(answered).toBeLessThanOrEqual(now.spent + now.reserved);
      return now;
    };
    stalls = (request) => offers(request, 'report_test');
    await live(budget);
    const id = await open();
    // What three tests reserve is more than half of it.
    for (let deaths = 1; (await ledger(id)).spent < budget; deaths += 1) {
      expect(deaths).toBeLessThanOrEqual(3);
      await waitFor(
        'tests to be under way',
        async () => (await ledger(id)).reserved > 0 && tests().some((each) => !isCut(each)),
      );
      await worker?.kill();
      await holds(id);
      await expire();
      const asked = claude.requests.length;
      await live(budget);
      await waitFor('the dead to be counted', async () => {
        const { reserved, spent } = await ledger(id);
        return spent >= budget || (reserved > 0 && claude.requests.length > asked);
      });
      await holds(id);
    }
    const asked = claude.requests.length;
    const { events, incident } = await until(id, 'awaiting_approval');
    expect(claude.requests.length).toBe(asked);
    expect(JSON.stringify(events.find(({ type }) => type === 'investigator.fallback'))).toContain(
      `${id} has used its $1 for the model`,
    );
    await holds(id);
    expect(incident.costUsd).toBeCloseTo((await ledger(id)).spent, 8);
  });
});
