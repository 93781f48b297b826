import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createUndo } from '../../../src/actions/undo.ts';
import type { Action } from '../../../src/core/action.ts';
import { asIncidentId, type IncidentId } from '../../../src/core/ids.ts';
import { openDatabase } from '../../../src/infra/db/client.ts';
import { migrateDatabase } from '../../../src/infra/db/migrate.ts';
import { migrateEngine } from '../../../src/infra/dbos/enqueue-function.ts';
import { documentSpace } from '../../../src/memory/sync/sync-documents.ts';
import { verifyAuditLog } from '../../../src/safety/audit/audit-verify.ts';
import { createRetrieval } from '../../../src/search/retrieval.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createBoxes } from '../../support/chaos-box.ts';
import type { Core } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { askedOf, type Box, createScene, ID, sceneAlert, sceneModel } from './scene.ts';

/**
 * A database that the version before the rebuild (commit 8e3ff95) left, with an incident in every state and turns cut off
 * in the middle: this version goes on with all of them. Names that live in data are held to here: of workflows, steps,
 * queues, events, tables and tools. make-fixture.mjs says how the fixture was made.
 */
interface Fixture {
  readonly madeAt: string;
  readonly ids: Readonly<Record<Box, string>>;
  readonly sequences: Readonly<Record<string, number>>;
  readonly tools: readonly string[];
  /** Of an incident that went from its alert to a fix. */
  readonly steps: readonly string[];
  readonly tables: Readonly<Record<string, readonly Row[]>>;
}
type Row = Readonly<Record<string, unknown>>;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const migrationsDir = here('../../../prisma/migrations');
/** The newest migration of the version before. */
const NEWEST_BEFORE = '20261122192000_beside';
/** How long the upgrade took: longer than the claims of what ran, shorter than any approval is open. */
const AWAY_MS = 120_000;

let database: ScratchDatabase;
let sql: Sql;
let fixture: Fixture;
let claude: ScriptedClaude;
let core: Core;

beforeAll(async () => {
  database = await scratchDatabase();
  sql = postgres(database.url, { max: 4, onnotice: () => undefined });
  fixture = await load(here('before-the-rebuild.jsonl'));
  await migrateDatabase(database.url, migrationsDir);
  claude = await createScriptedClaude({ scenario: sceneModel(), strict: false });
  const boxes = openDatabase(database.url, { max: 4 });
  core = await createScene({ url: database.url, claudeUrl: claude.url, sql: boxes.sql });
  await core.start();
}, 120_000);
afterAll(async () => {
  await core?.stop();
  await claude?.close();
  await sql?.end();
  await database?.drop();
});

/** Makes the database as it was, `AWAY_MS` after its processes died. */
async function load(file: string): Promise<Fixture> {
  const oldMigrations = scratchDir();
  for (const name of readdirSync(migrationsDir))
    if (name <= NEWEST_BEFORE)
      cpSync(join(migrationsDir, name), join(oldMigrations, name), { recursive: true });
  await migrateDatabase(database.url, oldMigrations);
  const before = openDatabase(database.url, { max: 2 });
  await migrateEngine(database.url, before.sql);
  await createBoxes(before.sql, []);
  await before.close();
  const loaded = moved(readFileSync(file, 'utf8'));
  await sql.begin(async (tx) => {
    // Triggers had their effect when the rows were written; rows come in no order.
    await tx`SET LOCAL session_replication_role = replica`;
    for (const [name, rows] of Object.entries(loaded.tables)) {
      const [schema = '', plain = ''] = name.split('.');
      await tx`DELETE FROM ${tx(schema)}.${tx(plain)}`;
      await tx`INSERT INTO ${tx(schema)}.${tx(plain)} OVERRIDING SYSTEM VALUE
        SELECT * FROM jsonb_populate_recordset(NULL::${tx(schema)}.${tx(plain)}, ${tx.json(rows as never)})`;
    }
    for (const [name, last] of Object.entries(loaded.sequences)) await tx`SELECT setval(${name}, ${last})`;
  });
  return loaded;
}

/** All times in it moved, so that it was made `AWAY_MS` ago; but for the audit log, whose hashes are over its times. */
function moved(text: string): Fixture {
  const [first = '', ...lines] = text.trim().split('\n');
  const head = JSON.parse(first) as Omit<Fixture, 'tables'>;
  const seconds = Math.floor((Date.now() - AWAY_MS - Date.parse(head.madeAt)) / 1_000);
  const tables = lines.map((line) => {
    const isAudit = line.startsWith('{"table":"public.audit_');
    return JSON.parse(isAudit ? line : later(line, seconds)) as { table: string; rows: readonly Row[] };
  });
  return { ...head, tables: Object.fromEntries(tables.map(({ table, rows }) => [table, rows])) };
}

/** Written as a date and a time of day (UTC), or in milliseconds since 1970. */
function later(line: string, seconds: number): string {
  return line
    .replaceAll(/(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)/g, (_, day: string, time: string) =>
      new Date(Date.parse(`${day}T${time}Z`) + seconds * 1_000).toISOString().slice(0, 19),
    )
    .replaceAll(/\b1[789]\d{11}\b/g, (ms) => String(Number(ms) + seconds * 1_000));
}

const idOf = (box: Box): IncidentId => asIncidentId(fixture.ids[box]);
const recordOf = async (id: IncidentId) => {
  const record = await core.records.load(id);
  if (!record) throw new Error(`no record of ${id}`);
  return record;
};

async function until(box: Box, state: string) {
  let seen: unknown;
  await waitFor(
    `${box} to be ${state}`,
    async () => {
      seen = (await core.records.incident(idOf(box)))?.state;
      return seen === state;
    },
    { seen: () => seen },
  );
  return recordOf(idOf(box));
}

async function card(id: IncidentId): Promise<Action> {
  return waitFor(`a card of ${id}`, async () => {
    const action = (await recordOf(id)).actions.at(-1);
    return action?.state === 'proposed' && action;
  });
}

async function approve({ id, planHash }: Action): Promise<void> {
  const decision = { by: 'UONCALL', decision: 'approve', reason: '', anotherWay: false } as const;
  expect(await core.approvals.decide({ actionId: id, planHash, ...decision })).toMatchObject({ ok: true });
}

const effectsOn = async (box: Box): Promise<number> =>
  (await sql`SELECT 1 FROM effect WHERE box = ${box}`).length;

describe('what the version before left goes on with this one', () => {
  test.each(['open', 'triaging', 'diagnosing', 'planning'] as const)(
    '%s: is investigated to its card, and its fix runs once',
    async (box) => {
      await approve(await card(idOf(box)));
      await until(box, 'resolved');
      expect(await effectsOn(box)).toBe(1);
    },
  );

  test('what a model was paid for before is not asked again', () => {
    const begun = claude.requests
      .map(({ body }) => askedOf(body))
      .filter(({ turn, box }) => turn === 0 && ['open', 'triaging', 'diagnosing', 'planning'].includes(box))
      .map(({ role, box }) => `${role} ${box}`);
    expect(begun.toSorted()).toEqual([
      'detective open',
      'detective triaging',
      'surgeon diagnosing',
      'surgeon open',
      'surgeon triaging',
      'triage open',
    ]);
  });

  test('a question that was being answered is answered, from where it was', async () => {
    const ended = await waitFor('the answer', async () => {
      const [row] = await sql`SELECT state, answer FROM question`;
      return row?.['state'] === 'asked' ? null : row;
    });
    expect(ended).toMatchObject({ state: 'answered', answer: expect.stringContaining('It still is.') });
    const messages = claude.requests.map(({ body }) => askedOf(body)).filter(({ box }) => box === 'reported');
    expect(messages).toEqual([{ role: 'conversation', box: 'reported', turn: 1 }]);
  });

  test('an open card is decided, and its fix runs once', async () => {
    const action = await card(idOf('waiting'));
    expect(fixture.tables['public.action']?.map(({ id }) => id)).toContain(action.id);
    await approve(action);
    await until('waiting', 'resolved');
    expect(await effectsOn('waiting')).toBe(1);
  });

  test.each(['approved', 'checking'] as const)(
    '%s: an approval of before, which nobody signed, is asked for again, and its fix runs once',
    async (box) => {
      await approve(await card(idOf(box)));
      const { actions } = await until(box, 'resolved');
      expect(actions.map(({ state }) => state)).toEqual(['void', 'succeeded']);
      expect(await effectsOn(box)).toBe(1);
    },
  );

  test('what ran when its process died is found done where it can be seen, and else is unknown; neither runs again', async () => {
    expect((await until('ran', 'resolved')).actions.map(({ state }) => state)).toEqual(['succeeded']);
    expect((await until('claimed', 'resolved')).actions.map(({ state }) => state)).toEqual(['unknown']);
    expect([await effectsOn('ran'), await effectsOn('claimed')]).toEqual([1, 1]);
  });

  test('a verification comes to its end', async () => {
    expect((await until('verifying', 'resolved')).incident.verdict).toBe('fixed');
    expect(await effectsOn('verifying')).toBe(1);
  });

  test('a stopped incident is resumed where it was', async () => {
    expect(await core.steering.resume(idOf('stopped'), 'UONCALL')).toMatchObject({ ok: true });
    await approve(await card(idOf('stopped')));
    await until('stopped', 'resolved');
    expect(await effectsOn('stopped')).toBe(1);
  });

  test('a fix is taken back by a click', async () => {
    const undo = createUndo({ ...core.gateDeps, ...core });
    const action = (await recordOf(idOf('undoable'))).actions[0] as Action;
    const click = { actionId: action.id, planHash: action.planHash, by: 'UONCALL' };
    expect(await undo.press(click)).toMatchObject({ ok: true });
    await waitFor('the undo', async () =>
      (await recordOf(idOf('undoable'))).actions.some(({ undoes, state }) => undoes && state === 'succeeded'),
    );
    expect(await effectsOn('undoable')).toBe(2);
  });
  test('what was denied stays denied', async () => {
    expect(await recordOf(idOf('denied'))).toMatchObject({
      incident: { state: 'reported' },
      denials: [{ reason: 'Not in office hours.' }],
    });
    const { incidentId } = await core.accept(sceneAlert('denied'));
    // The new card shows it: whoever approves it does so although somebody said no.
    const [denial] = fixture.tables['public.denial'] ?? [];
    expect(await card(incidentId as IncidentId)).toMatchObject({ denialsAcknowledged: [denial?.['id']] });
    expect(await effectsOn('denied')).toBe(0);
  });

  test('what had ended stays as it was', async () => {
    for (const box of ['resolved', 'reported', 'escalated', 'ignored'] as const)
      expect((await recordOf(idOf(box))).incident.state).toBe(box);
  });

  test('a promoted document is found by its words', async () => {
    const away = () => Promise.reject(new Error('words alone'));
    const vectors = { collection: () => ({ upsert: away, query: away, list: away, remove: away }) };
    const embedder = { fingerprint: 'none', embed: away, close: async () => undefined };
    const retrieval = createRetrieval({ sql: core.sql, vectors, embedder, log: quiet });
    const stores = await core.sql<Row>`SELECT slug FROM memory_store WHERE scope = 'workspace'`;
    const { hits } = await retrieval.search({
      text: 'rusty hinges of a box',
      spaces: stores.map(({ slug }) => documentSpace(String(slug), null)),
      meaningWithinMs: 0,
    });
    expect(hits.map(({ title }) => title)).toEqual(['The hinges rust in winter']);
  });

  test('the audit log still verifies', async () => {
    const verified = await verifyAuditLog(core.sql, { key: null, witnessed: [] });
    expect(verified).toMatchObject({ ok: true });
  });

  test('every tool is still called what it was', () => {
    expect(allTools.map(({ name }) => name)).toEqual(expect.arrayContaining([...fixture.tools]));
  });

  test('every step on the way to a fix is still called what it was', async () => {
    const steps = await sql`
      SELECT DISTINCT regexp_replace(o.function_name, ${ID}, '', 'g') AS name
        FROM dbos.operation_outputs o JOIN dbos.workflow_status w USING (workflow_uuid)
       WHERE w.queue_partition_key = ${idOf('open')}`;
    expect(steps.map(({ name }) => String(name))).toEqual(expect.arrayContaining([...fixture.steps]));
  });

  test('every turn that was cut off or waited came to its end, and none by a fault', async () => {
    const ids = (fixture.tables['dbos.workflow_status'] ?? [])
      .filter(({ status }) => status === 'PENDING' || status === 'ENQUEUED')
      .map((row) => String(row['workflow_uuid']));
    const statuses = async () =>
      (await sql`SELECT status FROM dbos.workflow_status WHERE workflow_uuid = ANY (${ids})`).map(
        ({ status }) => String(status),
      );
    await waitFor('the turns to end', async () =>
      (await statuses()).every((status) => status !== 'PENDING' && status !== 'ENQUEUED'),
    );
    expect(await statuses()).toEqual(ids.map(() => 'SUCCESS'));
    const faults = await sql`
      SELECT function_name, error FROM dbos.operation_outputs WHERE error IS NOT NULL OR function_name = 'retry later'`;
    expect(faults).toEqual([]);
    expect(await sql`SELECT incident_id, reason FROM turn_failure`).toEqual([]);
    expect(
      await sql`SELECT body FROM event WHERE type = 'investigator.fallback' AND incident_id <> ${idOf('undoable')}`,
    ).toEqual([]);
  });
});
