import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COUNT_LIMIT, countUpTo, upTo } from '../../../src/core/count.ts';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { memorySummary } from '../../../src/memory/documents/summary.ts';
import { costReport } from '../../../src/record/cost.ts';
import { createRecords } from '../../../src/record/record.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';

describe('what screens count', () => {
  let scratch: ScratchDatabase;
  let db: Database;

  beforeAll(async () => {
    scratch = await scratchDatabase({ migrate: true });
    db = openDatabase(scratch.url);
    await db.sql`
      INSERT INTO incident (state, title, severity, domain, target, source, fingerprint, labels, annotations)
      SELECT CASE WHEN n <= 3 THEN 'stopped' ELSE 'reported' END, 't', 'info', 'postgres', 'shop-db', 'test', 'f' || n, '{}', '{}'
        FROM generate_series(1, 1500) AS n`;
    await db.sql`
      INSERT INTO episode (error, diagnosis, command, result, success)
      SELECT 'e', 'd', 'c', 'r', n > 2 FROM generate_series(1, 1500) AS n`;
  });

  afterAll(async () => {
    await db.close();
    await scratch.drop();
  });

  it('is counted to the limit and said as more than that, and whole at the terminal [C3]', async () => {
    const counts = await createRecords(db.sql).openCounts();
    expect(counts).toEqual({ open: COUNT_LIMIT, stopped: 3 });
    expect(countUpTo(counts.open, 'open incident')).toBe('1,000+ open incidents');
    const { episodes } = await memorySummary(db.sql, COUNT_LIMIT);
    expect(episodes).toEqual({
      total: COUNT_LIMIT,
      succeeded: COUNT_LIMIT,
      failed: 2,
      unknown: 0,
      archived: 0,
    });
    expect((await memorySummary(db.sql, null)).episodes).toMatchObject({ total: 1500, succeeded: 1498 });
    expect([upTo(0), upTo(1_000), upTo(1_001)]).toEqual(['0', '1000', '1,000+']);
    expect(countUpTo(1, 'incident')).toBe('1 incident');
  });

  it('sums what models cost by days, each call once, and keeps it when its rows are deleted [C3]', async () => {
    const used = (usd: number, daysAgo: number) => db.sql`
      INSERT INTO usage (role, model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_usd, at)
      VALUES ('detective', 'claude', 10, 0, 0, 1, ${usd}, clock_timestamp() - ${daysAgo} * interval '1 day')`;
    await Promise.all([used(1, 0), used(2, 0), used(4, 29), used(8, 30)]);
    await db.sql`DELETE FROM usage`;
    const { today, thirtyDays } = await costReport(db.sql, null);
    expect(today).toMatchObject({ usd: 3, calls: 2, inputTokens: 20, outputTokens: 2 });
    expect(thirtyDays).toMatchObject({ usd: 7, calls: 3 });
  });
});
