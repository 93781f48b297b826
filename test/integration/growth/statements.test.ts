import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillRecord } from '../../../bench/growth-fill.ts';
import type { Sql } from '../../../src/core/sql.ts';
import { openDatabase } from '../../../src/infra/db/client.ts';
import { migrateEngine } from '../../../src/infra/dbos/enqueue-function.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { sourceStatements } from '../../support/source-statements.ts';
import { leadingColumns, type PlanNode, type WholeRead, wholeReads } from '../../support/whole-reads.ts';

/** What reads a whole table on purpose: never while an alert, a turn, a press or a screen waits for it. */
const ON_PURPOSE: Readonly<Record<string, string>> = {
  'src/escalation/due-incidents.ts': 'all that is open, at the start and every few minutes',
  'src/incidents/after-restore.ts': 'once after a restore, while nothing runs',
  'src/infra/db/backup/backup.ts': 'a backup is of all',
  'src/infra/db/backup/restore.ts': 'a restore is of all',
  'src/incidents/test-incident.ts':
    'test incidents that have not closed yet: a row goes with its incident’s end',
  'src/incidents/phases/lasting.ts':
    'skips to the target in each of the five domains, newest first, at most twenty',
  'src/memory/context/spaces.ts': 'whoever may read everything: the terminal',
  'src/memory/documents/documents.ts': 'a page of documents, newest first, past those its reader may not see',
  'src/memory/documents/forget.ts': 'what is to be forgotten is looked for everywhere',
  'src/memory/documents/forget-copies.ts': 'what was copied of it is looked for everywhere',
  'src/memory/documents/transfer.ts': 'an export',
  'src/memory/promotion/promotions.ts': 'a page of proposals, past those of rules',
  'src/memory/sync/sync-documents.ts': 'once an hour',
  'src/memory/sync/sync-incidents.ts': 'once an hour',
  'src/record/incident-results.ts': 'a page of incidents at the terminal, past those without a diagnosis',
  'src/slack/outbound/approval-notices.ts': 'by the index of what waits for a decision, which is few',
  'src/safety/audit/audit-verify.ts': 'checks every entry',
};

/** `DELETE FROM $1`: of a table that is named when it runs. */
const namesNoTable = (statement: string): boolean => /^\s*DELETE FROM \$\d/.test(statement);
const ANY_TABLE: readonly WholeRead[] = [{ table: 'any table', how: 'named when it runs' }];

describe('statements on a record that has grown', { timeout: 300_000 }, () => {
  let scratch: ScratchDatabase;
  let client: postgres.Sql;
  let leading: ReadonlyMap<string, string>;

  beforeAll(async () => {
    scratch = await scratchDatabase({ migrate: true });
    const { sql, close } = openDatabase(scratch.url);
    await migrateEngine(scratch.url, sql);
    await fillRecord(sql, { incidents: 2_000, auditEntries: 2_000 });
    await close();
    client = postgres(scratch.url, { max: 1, onnotice: () => undefined });
    leading = await leadingColumns(client as unknown as Sql);
    // Where there is a way by an index, it is taken, however small the tables of this test.
    for (const way of ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'])
      await client.unsafe(`SET ${way} = off`);
  }, 300_000);

  afterAll(async () => {
    await client?.end();
    await scratch?.drop();
  });

  async function readsOf(statement: string): Promise<readonly WholeRead[]> {
    const explained = await client.unsafe(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${statement}`);
    const [row] = explained as unknown as [{ 'QUERY PLAN': [{ Plan: PlanNode }] }];
    return wholeReads(row['QUERY PLAN'][0].Plan, leading);
  }

  it('read no table that grows from end to end, but those that are meant to [C3]', async () => {
    const statements = sourceStatements();
    expect(statements.length).toBeGreaterThan(300);
    const found: string[] = [];
    const onPurpose = new Set<string>();
    for (const { file, line, text } of statements)
      for (const { table, how } of namesNoTable(text) ? ANY_TABLE : await readsOf(text)) {
        if (ON_PURPOSE[file] === undefined) found.push(`${file}:${line} reads all of ${table}: ${how}`);
        else onPurpose.add(file);
      }
    expect(found).toEqual([]);
    expect([...onPurpose].sort()).toEqual(Object.keys(ON_PURPOSE).sort());
  });

  it.each([
    ['without a condition', 'SELECT * FROM usage', 'usage'],
    ['by a time that changes with every row', 'SELECT 1 FROM usage WHERE at > clock_timestamp()', 'usage'],
    ['by a column without an index', "SELECT 1 FROM event WHERE type = 'x'", 'event'],
    [
      'until a filter has found enough',
      'SELECT 1 FROM incident WHERE title = $1 ORDER BY opened_at LIMIT 1',
      'incident',
    ],
    ['in a subquery', 'SELECT (SELECT count(*) FROM episode)', 'episode'],
    ['by a later column of an index', 'SELECT 1 FROM event WHERE dedupe_key = $1', 'event'],
  ])('a read of a whole table is found: %s [C3]', async (_, statement, table) => {
    expect((await readsOf(statement)).map((read) => read.table)).toContain(table);
  });

  it('the functions of the database read none either [C3]', async () => {
    const plans: PlanNode[] = [];
    const session = postgres(scratch.url, {
      max: 1,
      onnotice: ({ message }) => {
        const [, json] = /plan:\s*(\{[\s\S]*\})\s*$/.exec(message ?? '') ?? [];
        if (json) plans.push((JSON.parse(json) as { readonly Plan: PlanNode }).Plan);
      },
    });
    try {
      await session.unsafe(`LOAD 'auto_explain'`);
      for (const [name, value] of Object.entries({
        'auto_explain.log_min_duration': '0',
        'auto_explain.log_nested_statements': 'on',
        'auto_explain.log_format': 'json',
        'auto_explain.log_level': 'notice',
        enable_seqscan: 'off',
        enable_hashjoin: 'off',
        enable_mergejoin: 'off',
      }))
        await session`SELECT set_config(${name}, ${value}, false)`;
      const alert = {
        source: 'alertmanager',
        status: 'firing',
        name: 'PostgresBlockedSessions',
        title: 'blocked',
        severity: 'warning',
        labels: {},
        annotations: {},
        starts_at: '2026-01-01T00:00:00Z',
        domain: 'postgres',
        told: { identity: [] },
        related_sources: 'pagerduty',
        reopen_ms: 1000,
        lock_words: ['a'],
        vague: false,
      };
      const alerts = [1, 2, 3].map((n) => ({ ...alert, fingerprint: `f${n}`, delivery_key: `k${n}` }));
      await session`SELECT * FROM sentry_accept_alerts(${session.json(alerts)})`;
      const again = [{ ...alert, fingerprint: 'f1', delivery_key: 'k4' }];
      await session`SELECT * FROM sentry_accept_alerts(${session.json(again)})`;
      const ended = [
        {
          ...alert,
          fingerprint: 'f1',
          delivery_key: 'k5',
          status: 'resolved',
          ends_at: '2026-01-01T01:00:00Z',
        },
      ];
      await session`SELECT * FROM sentry_accept_alerts(${session.json(ended)})`;
      await session`SELECT throttle_take(ARRAY['role:x'], ARRAY[5], ARRAY[60])`;
      await session`SELECT audit_append(ARRAY['{}'])`;
      await session`UPDATE action SET state = 'failed' WHERE id = 'act_INC-5'`;
      await session`UPDATE incident SET state = 'stopped' WHERE id = 'INC-5'`;
      await session`UPDATE dream_job SET reason = 'x' WHERE id = 'dream_x'`;
      expect(plans.length).toBeGreaterThan(30);
      expect(plans.flatMap((plan) => wholeReads(plan, leading))).toEqual([]);
    } finally {
      await session.end();
    }
  });
});
