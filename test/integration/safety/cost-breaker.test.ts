import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { createAuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { type CostBreaker, createCostBreaker } from '../../../src/safety/limits/cost-breaker.ts';
import { formatBreaker } from '../../../src/safety/limits/format-breaker.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { startTogether } from '../../support/start-together.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

const run = promisify(execFile);
const worker = fileURLToPath(new URL('./spend-worker.ts', import.meta.url));
const never = new AbortController().signal;
const LIMIT = 5;

let scratch: ScratchDatabase;
let database: Database;
let breaker: CostBreaker;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url, { max: 10 });
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
  await sql`UPDATE cost_breaker SET state = 'closed', trial = NULL, told = true, reason = ''`;
  breaker = breakerWith({});
});

function breakerWith(limits: { readonly perIncidentUsd?: number; readonly perDayUsd?: number }): CostBreaker {
  const { sql } = database;
  return createCostBreaker({
    sql,
    audit: createAuditLog(sql),
    limits: { usd: LIMIT, windowMs: 600_000, perIncidentUsd: 100, perDayUsd: 100, ...limits },
    log: quiet,
  });
}

const reserve = (usd: number, more: { incidentId?: string; waitMs?: number; forMs?: number } = {}) =>
  breaker.reserve({ incidentId: null, usd, forMs: 30_000, waitMs: 0, signal: never, ...more });

async function spent(usd: number, more: { ago?: string; incidentId?: string } = {}): Promise<void> {
  await database.sql`
    INSERT INTO usage (incident_id, role, model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_usd, at)
    VALUES (${more.incidentId ?? null}, 'detective', 'm', 0, 0, 0, 0, ${usd},
            clock_timestamp() - ${more.ago ?? '0 s'}::interval)`;
}

const workers = async (...args: readonly string[]): Promise<readonly number[]> =>
  startTogether(scratch.url, 2, () =>
    Promise.all(
      Array.from({ length: 2 }, async () => {
        const { stdout } = await run(process.execPath, [
          '--import',
          'tsx',
          worker,
          '--url',
          scratch.url,
          ...args,
        ]);
        return Number(stdout);
      }),
    ),
  );
const total = async (): Promise<number> => {
  const [row] = await database.sql<Row>`SELECT sum(cost_usd)::float8 AS usd FROM usage`;
  return Number(row?.['usd']);
};

describe('twenty callers in two processes', () => {
  test('spend up to the limit and at most one call more', { timeout: 60_000 }, async () => {
    const calls = await workers('--callers', '10', '--usd', '0.7');
    expect(calls.every((made) => made > 0)).toBe(true);
    expect(await total()).toBeGreaterThanOrEqual(LIMIT);
    expect(await total()).toBeLessThan(LIMIT + 0.7);
    expect((await breaker.view()).state).toBe('open');
  });

  test('overshoot by many when nothing is reserved: the test above can fail', {
    timeout: 60_000,
  }, async () => {
    await workers('--callers', '10', '--usd', '0.7', '--blind', '--lasts', '1000');
    expect(await total()).toBeGreaterThan(LIMIT + 1.4);
  });
});

describe('the breaker', () => {
  test('does not open for what is only reserved: the next call waits and goes on', async () => {
    const first = await reserve(4.9);
    const second = await reserve(4.9);
    expect([first.ok, second.ok]).toEqual([true, true]);
    expect(await reserve(0.01)).toMatchObject({ ok: false, code: 'COST_RESERVED' });
    const waiting = reserve(0.01, { waitMs: 5_000 });
    if (first.ok) await first.release();
    if (second.ok) await second.release();
    expect(await waiting).toMatchObject({ ok: true });
    expect((await breaker.view()).state).toBe('closed');
  });

  test('a call of a process that died counts as reserved until its time is up, and as spent from then on', async () => {
    const { sql } = database;
    const incidentId = 'INC-1';
    await sql`
      INSERT INTO incident (id, title, severity, domain, source, fingerprint, labels, annotations)
      VALUES (${incidentId}, 't', 'critical', 'postgres', 'manual', 'f', '{}', '{}')`;
    await reserve(3, { forMs: 600_000, incidentId });
    await reserve(2, { forMs: 600_000, incidentId: 'INC-gone' });
    expect(await reserve(1)).toMatchObject({ ok: false, code: 'COST_RESERVED' });
    expect(await total()).toBe(0);
    await sql`UPDATE spend_reservation SET until = clock_timestamp()`;
    expect(await reserve(1)).toMatchObject({ ok: false, code: 'COST_BREAKER' });
    // Once.
    expect(await reserve(1)).toMatchObject({ ok: false, code: 'COST_BREAKER' });
    expect(await sql`SELECT incident_id, cost_usd FROM usage ORDER BY cost_usd`).toEqual([
      { incident_id: null, cost_usd: 2 },
      { incident_id: incidentId, cost_usd: 3 },
    ]);
    expect(await sql`SELECT cost_usd FROM incident`).toEqual([{ cost_usd: 3 }]);
  });

  test('opens above the limit, half-opens for one call when half of it is free, and closes after it', async () => {
    await spent(3, { ago: '9 min' });
    await spent(2.5, { ago: '1 min' });
    expect(await reserve(1)).toMatchObject({ ok: false, code: 'COST_BREAKER' });
    // Below the limit again, but not by half.
    await database.sql`UPDATE usage SET cost_usd = 1 WHERE cost_usd = 3`;
    expect(await reserve(1)).toMatchObject({ ok: false, code: 'COST_BREAKER' });
    await database.sql`UPDATE usage SET at = at - interval '2 min' WHERE cost_usd = 1`;
    await database.sql`UPDATE usage SET cost_usd = 2.4 WHERE cost_usd = 2.5`;
    const trial = await reserve(1);
    expect(trial).toMatchObject({ ok: true });
    expect((await breaker.view()).state).toBe('half_open');
    expect(await reserve(1)).toMatchObject({ ok: false, code: 'COST_BREAKER' });
    if (trial.ok) await trial.release();
    expect((await breaker.view()).state).toBe('closed');
    expect(await reserve(1)).toMatchObject({ ok: true });
  });

  test('opens again when the trial was too dear, and another may try when its process died', async () => {
    await spent(5);
    await reserve(1);
    await database.sql`UPDATE usage SET at = at - interval '1 hour'`;
    const trial = await reserve(1);
    await spent(5);
    if (trial.ok) await trial.release();
    expect((await breaker.view()).state).toBe('open');
    await database.sql`UPDATE usage SET at = at - interval '1 hour'`;
    expect(await reserve(1, { forMs: 600_000 })).toMatchObject({ ok: true });
    await database.sql`UPDATE spend_reservation SET until = clock_timestamp()`;
    expect(await reserve(1)).toMatchObject({ ok: true });
  });

  test('is told of once by two processes, and again when nobody could hear it', async () => {
    const other = breakerWith({});
    await spent(6);
    await reserve(1);
    const heard: string[] = [];
    let fails = 1;
    const tell = async (text: string): Promise<void> => {
      if (fails-- > 0) throw new Error('Slack is away');
      heard.push(text);
    };
    breaker.start(tell);
    other.start(tell);
    await expect.poll(() => heard.length).toBe(1);
    await sleep(1_500);
    await Promise.all([breaker.stop(), other.stop()]);
    expect(heard).toHaveLength(1);
    expect(heard[0]).toContain('$6.00 in 10 minutes');
  });

  test('keeps the budget of an incident and of a day', async () => {
    const [incident] = await database.sql<Row>`
      INSERT INTO incident (state, title, severity, domain, source, fingerprint, labels, annotations)
      VALUES ('open', 't', 'info', 'postgres', 'test', 'f', '{}', '{}') RETURNING id`;
    const incidentId = String(incident?.['id']);
    breaker = breakerWith({ perIncidentUsd: 2, perDayUsd: 4 });
    await spent(2, { incidentId });
    expect(await reserve(1, { incidentId })).toMatchObject({ ok: false, code: 'INCIDENT_BUDGET' });
    expect(await reserve(1)).toMatchObject({ ok: true });
    await spent(2, { ago: '0 s' });
    expect(await reserve(1)).toMatchObject({ ok: false, code: 'DAY_BUDGET' });
    await database.sql`UPDATE usage SET at = at - interval '1 day'`;
    expect(await reserve(1)).toMatchObject({ ok: true });
  });
});

test('whoever only looks is told the limits of the bot that runs', async () => {
  const { sql } = database;
  const quietly = { sql, audit: createAuditLog(sql), log: quiet };
  const limits = { usd: 200, windowMs: 3_600_000, perIncidentUsd: 50, perDayUsd: 900 };
  const bot = createCostBreaker({ ...quietly, limits });
  bot.start(async () => undefined);
  const looking = breakerWith({});
  await spent(7, { ago: '30 minutes' });
  await waitFor('the limits on record', async () => (await looking.view()).limits.usd === 200);
  await bot.stop();
  const view = await looking.view();
  expect(view.limits).toEqual(limits);
  // Over the bot's hour, not over ten minutes of its own.
  expect(formatBreaker(view)).toBe('Cost breaker closed: $7.00 of $200 in the last 60 minutes.');
});
