import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordingUsage, withinBudget } from '../../../src/agents/claude/guarded-stream.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { Tx } from '../../../src/core/sql.ts';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { LlmError } from '../../../src/llm/llm-error.ts';
import { type FinishedMessage, NO_USAGE, NOTHING_SPENT } from '../../../src/llm/types.ts';
import { createRecords } from '../../../src/record/record.ts';
import { createAuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { type CostBreaker, createCostBreaker } from '../../../src/safety/limits/cost-breaker.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';

/** A process that sleeps is taken for dead, and wakes: what its call cost is booked once, as what it really was. */
const never = new AbortController().signal;
const [FIRST, SECOND] = [asIncidentId('INC-1'), asIncidentId('INC-2')];
const MOST = 2;
const REAL = 0.25;

let scratch: ScratchDatabase;
let database: Database;
/** The process that sleeps, and the one that counts it. */
let [sleeper, other]: readonly [CostBreaker, CostBreaker] = [] as never;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url, { max: 10 });
  const { sql } = database;
  const make = (): CostBreaker =>
    createCostBreaker({
      sql,
      audit: createAuditLog(sql),
      limits: { usd: 100, windowMs: 600_000, perIncidentUsd: 100, perDayUsd: 100 },
      log: quiet,
    });
  [sleeper, other] = [make(), make()];
});
afterAll(async () => {
  await database.close();
  await scratch.drop();
});
beforeEach(async () => {
  const { sql } = database;
  await sql`DELETE FROM usage`;
  await sql`DELETE FROM spend_reservation`;
  await sql`DELETE FROM incident`;
  for (const id of [FIRST, SECOND])
    await sql`
      INSERT INTO incident (id, title, severity, domain, source, fingerprint, labels, annotations)
      VALUES (${id}, 't', 'critical', 'postgres', 'manual', ${id}, '{}', '{}')`;
});

async function reserved(incidentId: string = FIRST) {
  const call = { incidentId, usd: MOST, forMs: 600_000, waitMs: 0, signal: never };
  const answer = await sleeper.reserve(call);
  if (!answer.ok) throw new Error(answer.reason);
  return answer;
}

const expire = () => database.sql`UPDATE spend_reservation SET until = clock_timestamp()`;
/** Another process counts the dead, as with each call of its own; nothing of its own is left. */
async function countDead(): Promise<void> {
  const asked = await other.reserve({ incidentId: null, usd: 0, forMs: 1_000, waitMs: 0, signal: never });
  if (asked.ok) await asked.release();
}
const book = (reservation: string): Promise<void> =>
  createRecords(database.sql).addUsage(FIRST, 'detective', {
    model: 'm',
    inputTokens: 1,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: 1,
    thinkingTokens: 0,
    costUsd: REAL,
    reservation,
  });

async function booked() {
  const { sql } = database;
  const [incident] = await sql<{ usd: number }>`SELECT cost_usd AS usd FROM incident WHERE id = ${FIRST}`;
  const usage = await sql<{ role: string; usd: number }>`SELECT role, cost_usd AS usd FROM usage`;
  return { incident: incident?.usd, usage };
}
const ONCE = { incident: REAL, usage: [{ role: 'detective', usd: REAL }] };

/** So many of this database wait for a row that another has. */
const untilBlocked = (count: number) =>
  expect
    .poll(
      () =>
        database.sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    .toHaveLength(count);

/** Runs `use` while the incident is somebody else's. */
const whileLocked = (id: string, use: (tx: Tx) => Promise<void>): Promise<void> =>
  database.sql.begin(async (tx) => {
    await tx`SELECT FROM incident WHERE id = ${id} FOR UPDATE`;
    await use(tx);
  });

describe('a call of a process that slept', () => {
  test('is booked as what it cost, when it was counted as cut off before', async () => {
    const { id, release } = await reserved();
    await expire();
    await countDead();
    expect(await booked()).toEqual({ incident: MOST, usage: [{ role: 'cut off', usd: MOST }] });
    await book(id);
    await release();
    expect(await booked()).toEqual(ONCE);
    await countDead();
    expect(await booked()).toEqual(ONCE);
  });

  test('is not counted as cut off when it died after what it cost was on record', async () => {
    const { id } = await reserved();
    await book(id);
    await expire();
    await countDead();
    expect(await booked()).toEqual(ONCE);
    // Nor twice as what it cost.
    await book(id);
    expect(await booked()).toEqual(ONCE);
  });

  test('costs nothing when it ends and nothing was answered', async () => {
    const { release } = await reserved();
    await expire();
    await countDead();
    await release();
    expect(await booked()).toEqual({ incident: 0, usage: [] });
  });

  test.each(['counted first', 'booked first'])(
    'is booked once when both are at it at the same time: %s',
    async (who) => {
      const { id } = await reserved();
      await expire();
      const both: Promise<void>[] = [];
      const acts = [countDead, () => book(id)];
      await whileLocked(FIRST, async () => {
        // The first has the reservation and waits for the incident; the other waits as well.
        for (const act of who === 'counted first' ? acts : acts.toReversed()) {
          both.push(act());
          await untilBlocked(both.length);
        }
      });
      await Promise.all(both);
      expect(await booked()).toEqual(ONCE);
    },
  );

  test('is booked once, whoever comes when', async () => {
    for (let round = 0; round < 20; round += 1) {
      const calls = await Promise.all(Array.from({ length: 3 }, () => reserved()));
      await expire();
      await Promise.all([...calls.map(({ id }) => book(id)), countDead(), countDead()]);
      await Promise.all(calls.map(({ release }) => release()));
    }
    const { usage, incident } = await booked();
    expect(usage).toHaveLength(60);
    expect(new Set(usage.map(({ role }) => role))).toEqual(new Set(['detective']));
    expect(incident).toBeCloseTo(60 * REAL, 8);
  });
});

test('the dead of several incidents are counted in the order in which all lock incidents: nobody waits for ever', async () => {
  await reserved(SECOND);
  await reserved(FIRST);
  await expire();
  let counting: Promise<void> | undefined;
  await whileLocked(FIRST, async (tx) => {
    counting = countDead();
    await untilBlocked(1);
    // Such as a group that is closed.
    await tx`SELECT FROM incident WHERE id = ${SECOND} FOR UPDATE`;
  });
  await counting;
  expect((await booked()).usage).toHaveLength(2);
});

describe('a stream within its budget', () => {
  const message = { model: 'm', usage: { ...NO_USAGE, input: 1 }, usd: REAL, wasted: NOTHING_SPENT };
  const options = { signal: never, deadlineMs: 30_000, onEvent: () => undefined };
  const request = { system: '', tools: [], messages: [], maxTokens: 1 } as never;
  const through = (stream: () => Promise<FinishedMessage>, add: (id: string) => Promise<void>) =>
    withinBudget(
      recordingUsage({ model: 'claude-opus-5', stream }, ({ reservation = '' }) => add(reservation)),
      sleeper,
      { incidentId: FIRST, model: 'claude-opus-5' },
    )(request, options);
  const left = () => database.sql`SELECT 1 FROM spend_reservation`;

  test('puts on record what it cost as of its reservation', async () => {
    const slow = async (): Promise<FinishedMessage> => {
      await expire();
      await countDead();
      return message as unknown as FinishedMessage;
    };
    await through(slow, book);
    expect(await booked()).toEqual(ONCE);
    expect(await left()).toEqual([]);
  });

  test('stays reserved when that cannot be put on record: it counts as spent later', async () => {
    const failing = async (): Promise<void> => {
      throw new Error('the database is away');
    };
    await expect(through(async () => message as unknown as FinishedMessage, failing)).rejects.toThrow(
      'the database is away',
    );
    expect(await left()).toHaveLength(1);
    const refused = async (): Promise<FinishedMessage> => {
      throw new LlmError('LLM_ABORTED', 'stopped');
    };
    await expect(through(refused, book)).rejects.toThrow('stopped');
    expect(await left()).toHaveLength(1);
  });
});
