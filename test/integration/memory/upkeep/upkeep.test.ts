import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asIncidentId, type IncidentId } from '../../../../src/core/ids.ts';
import { createEngine } from '../../../../src/infra/dbos/engine.ts';
import { migrateEngine } from '../../../../src/infra/dbos/enqueue-function.ts';
import { forgetIncident } from '../../../../src/memory/documents/forget.ts';
import { memorySummary } from '../../../../src/memory/documents/summary.ts';
import { exportMemory, importLine, MemoryLine } from '../../../../src/memory/documents/transfer.ts';
import { archiveEpisodes, recallEpisodes, recordEpisode } from '../../../../src/memory/episodes/episodes.ts';
import { type CompactionDeps, compactAll } from '../../../../src/memory/rules/compact.ts';
import {
  listSystems,
  lookAtSystems,
  recordSystem,
  systemOf,
} from '../../../../src/memory/systems/systems.ts';
import { everybodyReads } from '../../../support/audiences.ts';
import { quiet } from '../../../support/quiet.ts';
import { domains } from '../../../support/targets.ts';
import type { Row } from '../../../support/typed.ts';
import { documentsRig } from '../documents/rig.ts';

const signal = new AbortController().signal;
let rig: Awaited<ReturnType<typeof documentsRig>>;
beforeAll(async () => {
  rig = await documentsRig();
});
afterAll(() => rig.close());
beforeEach(async () => {
  await rig.sql<Row>`
    SELECT memory_forget_documents(coalesce(array_agg(id), '{}')) FROM memory_document WHERE doc_type = 'rule_of_thumb'`;
  await rig.sql`TRUNCATE incident, episode, rule_compaction, target_system, dream_job CASCADE`;
});

const kinds = ['blocked_sessions', 'table_bloat', 'connection_exhaustion'];
let n = 0;

async function ended(kind: string, change: { readonly domain?: string; readonly cause?: string } = {}) {
  n += 1;
  const [row] = await rig.sql<Row>`
    INSERT INTO incident (title, severity, domain, source, fingerprint, labels, annotations, requesters, state,
                          incident_type, target, cause, alert_name)
    VALUES (${`Alert ${n}`}, 'critical', ${change.domain ?? 'postgres'}, 'test', ${`f${n}`}, '{}', '{}', '{}', 'resolved',
            ${kind}, 'shop-db', ${change.cause ?? `cause of ${kind}`}, ${`Alert${kind}`}) RETURNING id`;
  return asIncidentId(String(row?.['id']));
}

async function endedMany(count: number): Promise<readonly IncidentId[]> {
  const ids: IncidentId[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await ended(kinds[i % kinds.length] ?? ''));
  return ids;
}

const told = () => ({ sql: rig.sql, audiences: everybodyReads, log: quiet });

const compaction = (change: Partial<CompactionDeps> = {}): CompactionDeps => ({
  sql: rig.sql,
  documents: rig.documents,
  promotions: rig.promotions,
  audiences: everybodyReads,
  domains,
  advise: null,
  log: quiet,
  ...change,
});

const rulesNow = async () =>
  (await rig.documents.list({ kind: 'operator' }, { prefix: 'rules/' })).toSorted((a, b) =>
    a.path < b.path ? -1 : 1,
  );

describe('rules of thumb', () => {
  test('are made of more than 50 incidents of a domain, one a kind, and proposed; the incidents stay', async () => {
    await endedMany(50);
    expect(await compactAll(compaction(), signal)).toEqual([]);
    await ended('table_bloat');
    await ended('blocked_sessions', { domain: 'docker' });
    const [done] = await compactAll(compaction(), signal);
    expect(done).toMatchObject({ domain: 'postgres', incidents: 51 });
    const rules = await rulesNow();
    expect(rules.map(({ path, docType, trust, domain }) => [path, docType, trust, domain])).toEqual(
      ['blocked-sessions', 'connection-exhaustion', 'table-bloat'].map((kind) => [
        `rules/postgres/${kind}`,
        'rule_of_thumb',
        'agent_draft',
        'postgres',
      ]),
    );
    expect(rules[0]?.content).toContain('17 incidents');
    expect(rules[0]?.content).toContain('cause of blocked_sessions (17 times)');
    const waiting = await rig.promotions.list({ pending: true });
    expect(waiting.map((one) => one.target.path).toSorted()).toEqual(rules.map(({ path }) => path));
    const [left] = await rig.sql<Row>`SELECT count(*)::int AS n FROM incident`;
    expect(left?.['n']).toBe(52);
  });

  test('name no cause that people said was wrong', async () => {
    const ids = await endedMany(51);
    await rig.sql`INSERT INTO grade (incident_id, question, by, answer) VALUES (${ids[0] ?? ''}, 'cause_right', 'UANN', false)`;
    await rig.sql`INSERT INTO grade (incident_id, question, by, answer) VALUES (${ids[3] ?? ''}, 'cause_right', 'UANN', true)`;
    await compactAll(compaction(), signal);
    expect((await rulesNow())[0]?.content).toContain('cause of blocked_sessions (16 times)');
  });

  test('were learnt on what the systems of their targets have in common', async () => {
    const ids = await endedMany(51);
    await recordSystem(rig.sql, 'shop-db', { os: 'Debian 12', postgresql: '17.2' });
    await recordSystem(rig.sql, 'cart-db', { os: 'Debian 12', postgresql: '16.4' });
    await rig.sql`UPDATE incident SET target = 'cart-db' WHERE id = ${ids[0] ?? ''}`;
    await compactAll(compaction(), signal);
    expect((await rulesNow()).map(({ path, system }) => [path.split('/').at(-1), system])).toEqual([
      ['blocked-sessions', { os: 'Debian 12' }],
      ['connection-exhaustion', { os: 'Debian 12', postgresql: '17.2' }],
      ['table-bloat', { os: 'Debian 12', postgresql: '17.2' }],
    ]);
  });

  test('are not made again before another 51', async () => {
    await endedMany(51);
    expect(await compactAll(compaction(), signal)).toHaveLength(1);
    expect(await compactAll(compaction(), signal)).toEqual([]);
    await endedMany(50);
    expect(await compactAll(compaction(), signal)).toEqual([]);
    await endedMany(1);
    expect(await compactAll(compaction(), signal)).toMatchObject([{ incidents: 51 }]);
  });

  test('name every incident they came from, and go when one of those is forgotten', async () => {
    const ids = await endedMany(51);
    await compactAll(compaction(), signal);
    const [rule] = await rulesNow();
    const sources = await rig.sql<Row>`SELECT ref FROM memory_source_ref WHERE document_id = ${rule?.id}`;
    expect(new Set(sources.map((row) => row['ref']))).toEqual(new Set(ids.filter((_, i) => i % 3 === 0)));
    await forgetIncident({ sql: rig.sql, audit: rig.audit }, ids[0] as IncidentId, 'operator');
    expect((await rulesNow()).map(({ path }) => path)).toEqual([
      'rules/postgres/connection-exhaustion',
      'rules/postgres/table-bloat',
    ]);
  });

  test('say what the model says, and what the record says when it fails', async () => {
    await endedMany(51);
    const advise: CompactionDeps['advise'] = async ({ key }) => {
      if (key === 'table-bloat') throw new Error('overloaded');
      return `Look at ${key} first.`;
    };
    await compactAll(compaction({ advise }), signal);
    const texts = (await rulesNow()).map(({ content }) => content);
    expect(texts[0]).toContain('Look at blocked-sessions first.');
    expect(texts[2]).toContain('cause of table_bloat');
  });

  test('with a secret in them are not written, and the others are', async () => {
    await endedMany(51);
    const advise: CompactionDeps['advise'] = async ({ key }) =>
      key === 'table-bloat'
        ? `Log in as postgres://shop:${'k9Zq2Lw8'.repeat(2)}@db:5432/shop`
        : 'Look first.';
    const [done] = await compactAll(compaction({ advise }), signal);
    expect(done?.rules.map(({ path }) => path)).toEqual([
      'rules/postgres/blocked-sessions',
      'rules/postgres/connection-exhaustion',
    ]);
  });

  test('are made by the schedule of the job engine, once', async () => {
    await migrateEngine(rig.url, rig.sql);
    await endedMany(51);
    const engine = createEngine({ databaseUrl: rig.url, sql: rig.sql, log: quiet, executorId: 'upkeep' });
    const runs: number[] = [];
    await engine.start(
      async () => undefined,
      [
        {
          name: 'rules of thumb',
          cron: '0 3 * * *',
          work: async (stop) => void runs.push((await compactAll(compaction(), stop)).length),
        },
      ],
    );
    try {
      await engine.trigger('rules of thumb');
      await engine.trigger('rules of thumb');
    } finally {
      await engine.stop(5_000);
    }
    expect(runs).toEqual([1, 0]);
    expect(await rulesNow()).toHaveLength(3);
  });
});

describe('episodes', () => {
  const episode = (incidentId: IncidentId, command: string, success: boolean | null) =>
    recordEpisode(rig.sql, {
      incidentId,
      actionId: `act_${command}`,
      error: 'sessions blocked on orders',
      diagnosis: '',
      command,
      result: '',
      success,
    });

  test('past their age are archived: no longer offered, still counted and exported', async () => {
    const [id, other] = [await ended('blocked_sessions'), await ended('another')];
    await episode(id, 'old', true);
    await rig.sql`UPDATE episode SET at = clock_timestamp() - interval '400 days'`;
    await episode(id, 'new', false);
    expect(await archiveEpisodes(rig.sql, 365)).toBe(1);
    expect(await archiveEpisodes(rig.sql, 365)).toBe(0);
    const recalled = await recallEpisodes(told(), other, 'sessions blocked on carts');
    expect(recalled.similar.map(({ command }) => command)).toEqual(['new']);
    expect((await memorySummary(rig.sql, null)).episodes).toMatchObject({
      total: 2,
      succeeded: 1,
      failed: 1,
      archived: 1,
    });
    const lines = [];
    for await (const line of exportMemory(rig.sql)) if (line.kind === 'episode') lines.push(line);
    await rig.sql`DELETE FROM episode`;
    for (const line of lines)
      await importLine({ sql: rig.sql, audit: rig.audit }, JSON.parse(JSON.stringify(line)));
    expect((await memorySummary(rig.sql, null)).episodes).toMatchObject({ total: 2, archived: 1 });
  });

  test('that failed bring the call itself, so that the same is not proposed as if it were new', async () => {
    const [id, other] = [await ended('blocked_sessions'), await ended('another')];
    await episode(id, 'restart', false);
    await rig.sql`
      INSERT INTO action (id, incident_id, round, state, tool, target, input, command, plan_hash, guard, system_identifier,
                          timeline_id, why, blast_radius, preflight, undo, risk, verify, audit_only, expires_at)
      VALUES ('act_restart', ${id}, 1, 'succeeded', 'service_restart', 'shop-db', '{"service": "shop"}', 'restart', 'h', '{}', '1', 1,
              '', '', '{}', '', 'low', '{}', false, now())`;
    await rig.sql`UPDATE episode SET target = 'shop-db'`;
    const failed = async () => (await recallEpisodes(told(), other, 'sessions blocked on carts')).failedActs;
    expect(await failed()).toEqual([
      { tool: 'service_restart', target: 'shop-db', input: { service: 'shop' } },
    ]);
    await rig.sql`UPDATE action SET input = NULL WHERE id = 'act_restart'`;
    expect(await failed()).toEqual([]);
  });

  test('of an export that holds a secret are put back without it', async () => {
    const line = {
      kind: 'episode',
      incidentId: null,
      actionId: null,
      at: '2026-11-24T03:04:05.000Z',
      error: 'sessions blocked on carts',
      diagnosis: 'a session holds a lock',
      command: "ALTER ROLE shop PASSWORD 'Harbour-Seal9'",
      result: 'password=Harbour-Seal9',
      success: true,
      target: null,
      system: null,
      archivedAt: null,
    } as const;
    await importLine({ sql: rig.sql, audit: rig.audit }, line);
    const rows = await rig.sql<Row>`SELECT * FROM episode`;
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('Harbour');
    // The same line again is the same episode.
    expect(await importLine({ sql: rig.sql, audit: rig.audit }, line)).toBe('already there');
  });

  test('of a year that no database knows are refused in words, as is a person’s store under another’s name', async () => {
    const episode = {
      kind: 'episode',
      at: '0000-01-01T00:00:00Z',
      error: 'e',
      diagnosis: 'd',
      command: 'c',
      result: 'r',
    };
    const parsed = MemoryLine.safeParse({ ...episode, incidentId: null, actionId: null, success: true });
    expect(parsed.error?.issues).toMatchObject([{ path: ['at'], message: 'expected a time since 1970' }]);
    const line = {
      kind: 'document',
      store: 'user:U0ANNA',
      owner: 'U0BERT',
      incidentId: null,
      path: 'a',
      versions: [],
    };
    const deps = { sql: rig.sql, audit: rig.audit };
    expect(await importLine(deps, line as never)).toEqual({
      refused: 'The store "user:U0ANNA" is not that of U0BERT.',
    });
    expect(await rig.sql`SELECT FROM memory_store WHERE slug = 'user:U0ANNA'`).toEqual([]);
  });

  test('carry the system they happened on; one of another system comes behind', async () => {
    const id = await ended('blocked_sessions');
    await recordSystem(rig.sql, 'shop-db', { postgresql: '18.1' });
    await episode(id, 'on 18', true);
    await recordSystem(rig.sql, 'shop-db', { postgresql: '17.2' });
    await rig.sql`UPDATE episode SET at = at - interval '1 day'`;
    await episode(id, 'on 17', true);
    const asked = async () =>
      (await recallEpisodes(told(), id, 'sessions blocked on carts', await systemOf(rig.sql, 'shop-db')))
        .similar;
    expect((await asked()).map(({ command }) => command)).toEqual(['on 17', 'on 18']);
    await recordSystem(rig.sql, 'shop-db', { postgresql: '18.1' });
    expect((await asked()).map(({ command }) => command)).toEqual(['on 18', 'on 17']);
  });
});

test('a target that does not answer keeps the system that was seen last', async () => {
  let away = false;
  const read = async () => {
    if (away) throw new Error('away');
    return { postgresql: '18.1', os: 'linux' };
  };
  const look = () => lookAtSystems({ sql: rig.sql, targets: ['shop-db'], read, log: quiet });
  await look();
  away = true;
  await look();
  const [seen] = await listSystems(rig.sql);
  expect(seen).toMatchObject({ target: 'shop-db', facts: { postgresql: '18.1', os: 'linux' } });
});
