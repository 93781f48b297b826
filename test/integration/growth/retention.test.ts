import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fillRecord } from '../../../bench/growth-fill.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { formatDetailsDeleted } from '../../../src/core/details-deleted.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { migrateEngine } from '../../../src/infra/dbos/enqueue-function.ts';
import { createAccept } from '../../../src/ingest/accept.ts';
import { createRecords } from '../../../src/record/record.ts';
import { deleteOldDetails } from '../../../src/record/retention.ts';
import { createAuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { verifyAuditLog } from '../../../src/safety/audit/audit-verify.ts';
import { domainOfLabels } from '../../../src/targets/domains.ts';
import { kinds } from '../../../src/targets/kinds.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';

describe('retention', { timeout: 300_000 }, () => {
  let scratch: ScratchDatabase;
  let db: Database;
  const never = new AbortController().signal;
  const run = (days: number, signal = never) =>
    deleteOldDetails({ sql: db.sql, audit: createAuditLog(db.sql), log: quiet }, days, signal);
  const count = async (table: string): Promise<number> => {
    const [row] = await db.sql<{ n: number }>`
      SELECT (xpath('/row/n/text()', query_to_xml('SELECT count(*) AS n FROM ' || ${table}, false, true, '')))[1]::text::int AS n`;
    return row?.n ?? -1;
  };
  const counts = async (tables: readonly string[]) =>
    Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await count(table)] as const)));

  beforeEach(async () => {
    scratch = await scratchDatabase({ migrate: true });
    db = openDatabase(scratch.url);
    await migrateEngine(scratch.url, db.sql);
    await fillRecord(db.sql, { incidents: 400, auditEntries: 200 });
  }, 300_000);

  afterEach(async () => {
    await db.close();
    await scratch.drop();
  });

  it('deletes the details of what ended long ago, and nothing of what is open, of memory or of the audit log [S-retention]', async () => {
    const kept = [
      'incident',
      'alert',
      'action',
      'episode',
      'grade',
      'denial',
      'memory_document',
      'memory_version',
      'search_entry',
      'dream_job',
    ];
    const before = await counts(kept);
    // What is at work is left alone, and so is what somebody has said something about of late.
    await db.sql`UPDATE incident SET opened_at = opened_at - interval '1 year', updated_at = updated_at - interval '1 year' WHERE state = 'diagnosing'`;
    await db.sql`
      UPDATE incident SET updated_at = clock_timestamp() - interval '1 day' WHERE id IN (
        SELECT id FROM incident WHERE state = 'reported' ORDER BY opened_at LIMIT 10)`;
    const [old] = await db.sql<{ n: number; resting: number }>`
      SELECT count(*)::int AS n, count(*) FILTER (WHERE state NOT IN ('ignored', 'resolved'))::int AS resting FROM incident
       WHERE state IN ('ignored', 'resolved') AND ended_at < clock_timestamp() - interval '180 days'
          OR state IN ('reported', 'escalated', 'stopped') AND updated_at < clock_timestamp() - interval '180 days'`;
    expect(old?.resting).toBeGreaterThan(50);
    expect(old?.n).toBeGreaterThan(100);
    expect(await run(180)).toBe(old?.n);
    expect(await counts(kept)).toEqual(before);
    for (const table of ['tool_call', 'usage', 'criterion_reading', 'memory_usage', 'question']) {
      const left = await db.sql<{ incident_id: string; state: string; recent: boolean }>`
        SELECT DISTINCT i.id AS incident_id, i.state, coalesce(i.ended_at, i.updated_at) > clock_timestamp() - interval '180 days' AS recent
          FROM incident i WHERE i.id IN (SELECT incident_id FROM tool_call WHERE ${table} = 'tool_call'
            UNION SELECT incident_id FROM usage WHERE ${table} = 'usage'
            UNION SELECT incident_id FROM criterion_reading WHERE ${table} = 'criterion_reading'
            UNION SELECT incident_id FROM memory_usage WHERE ${table} = 'memory_usage'
            UNION SELECT incident_id FROM question WHERE ${table} = 'question')`;
      expect(left.filter(({ state, recent }) => !recent && state !== 'diagnosing')).toEqual([]);
      expect(left.some(({ state }) => state === 'reported')).toBe(true);
    }
    expect(await verifyAuditLog(db.sql, { key: null, witnessed: [] })).toMatchObject({ ok: true });
    const [entry] = await db.sql<{ body: string }>`SELECT body FROM audit_entry ORDER BY seq DESC LIMIT 1`;
    expect(entry?.body).toContain('retention.deleted');
    expect(await run(180)).toBe(0);
  });

  it('says of such an incident that its details are gone, and tells the rest [S-retention]', async () => {
    await db.sql`UPDATE incident SET state = 'resolved', ended_at = opened_at WHERE id = 'INC-1'`;
    await run(7);
    const records = createRecords(db.sql);
    const record = await records.load(asIncidentId('INC-1'));
    if (!record) throw new Error('the incident has gone');
    const gone = formatDetailsDeleted(record.incident);
    expect(gone).toContain('The details of INC-1 were deleted on ');
    expect(why(record)).toContain(gone);
    expect(why(record)).toContain('tool calls are deleted');
    expect(record.toolCalls).toEqual([]);
    expect(record.episodes).not.toEqual([]);
    expect(record.events.map(({ type }) => type)).toContain('incident.opened');
    const [at] = await db.sql<{
      same: boolean;
    }>`SELECT updated_at = opened_at + interval '10 min' AS same FROM incident WHERE id = 'INC-1'`;
    expect(at?.same).toBe(true);
  });

  it('what waits for people keeps its messages, and what comes when it goes on is there again [S-retention]', async () => {
    const [one] = await db.sql<{
      id: string;
      fingerprint: string;
    }>`SELECT id, fingerprint FROM incident WHERE state = 'reported' ORDER BY opened_at LIMIT 1`;
    const posts = async () =>
      (await db.sql`SELECT FROM slack_post WHERE incident_id = ${one?.id ?? ''}`).length;
    const before = await posts();
    await run(180);
    const deleted = async () =>
      (await createRecords(db.sql).incident(asIncidentId(one?.id ?? '')))?.detailsDeletedAt;
    expect(await deleted()).not.toBeNull();
    expect(await posts()).toBe(before);
    const accept = createAccept(db.sql, [], domainOfLabels(kinds));
    const accepted = await accept({
      source: 'alertmanager',
      status: 'firing',
      name: 'PostgresBlockedSessions',
      title: 'Sessions blocked',
      severity: 'critical',
      sourceSeverity: null,
      labels: {},
      annotations: {},
      target: null,
      fingerprint: one?.fingerprint ?? '',
      deliveryKey: 'again',
      startsAt: new Date().toISOString(),
      endsAt: null,
      url: null,
    });
    expect(accepted).toEqual({ kind: 'repeated', incidentId: one?.id });
    expect(await deleted()).toBeNull();
  });

  it('leaves what may still run, or may have, and ends between batches when it is told to [S-retention]', async () => {
    await db.sql`UPDATE incident SET state = 'resolved', ended_at = opened_at WHERE id IN ('INC-1', 'INC-2')`;
    await db.sql`UPDATE action SET state = 'unknown' WHERE id = 'act_INC-2'`;
    const stopped = new AbortController();
    stopped.abort();
    expect(await run(7, stopped.signal)).toBe(0);
    // Two at once: neither waits for the other, and none is done twice.
    const [a, b] = await Promise.all([run(7), run(7)]);
    const [done] = await db.sql<{
      n: number;
    }>`SELECT count(*)::int AS n FROM incident WHERE details_deleted_at IS NOT NULL`;
    expect((a ?? 0) + (b ?? 0)).toBe(done?.n);
    const [unsure] = await db.sql<{
      gone: boolean;
    }>`SELECT details_deleted_at IS NOT NULL AS gone FROM incident WHERE id = 'INC-2'`;
    expect(unsure?.gone).toBe(false);
  });
});

it.each([
  [undefined, 365],
  ['30d', 30],
  ['off', null],
])('SENTRY_RETENTION %s is %s days [S-retention]', (value, days) => {
  expect(loadConfig(value === undefined ? {} : { SENTRY_RETENTION: value }).retentionDays).toBe(days);
});

it.each(['0', '1d', '365', '-5d', 'for ever', '6d', '1e9d'])(
  'SENTRY_RETENTION %s is refused in words [S-retention]',
  (value) => {
    expect(() => loadConfig({ SENTRY_RETENTION: value })).toThrow(/SENTRY_RETENTION.*at least 7/s);
  },
);
