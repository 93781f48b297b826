import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IncidentId } from '../../../../src/core/ids.ts';
import { afterRestore } from '../../../../src/incidents/after-restore.ts';
import { backUp } from '../../../../src/infra/db/backup/backup.ts';
import { restore } from '../../../../src/infra/db/backup/restore.ts';
import { verifyAuditLog } from '../../../../src/safety/audit/audit-verify.ts';
import { boxAlert, boxTools, type Core, createCore, type Machine } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** What a reader by lines, columns or escapes could trip over. */
const ODD = 'a\tb\nc\r\n\\.\n\\N \u2028 \u2029 {"x":1} é 😀';

const file = join(scratchDir(), 'backup');
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
const databases: ScratchDatabase[] = [];
const cores: Core[] = [];
let before: Core;
let after: Core;
let id: IncidentId;

async function core(): Promise<Core> {
  const database = await scratchDatabase({ migrate: true });
  databases.push(database);
  const made = await createCore({ url: database.url, tools: boxTools(machine) });
  cores.push(made);
  return made;
}
const urlOf = (of: Core): string => databases[cores.indexOf(of)]?.url ?? '';
const bring = (to: Core, from = file, force = false) =>
  restore(urlOf(to), from, { force, afterwards: (tx, { madeAt }) => afterRestore(tx, madeAt) });
const stateOf = async (at: Core) => (await at.records.incident(id))?.state;
const lastAction = async (at: Core) => (await at.records.load(id))?.actions.at(-1);

async function approve(at: Core): Promise<void> {
  const action = await lastAction(at);
  if (!action) throw new Error('no action');
  const { id: actionId, planHash } = action;
  const decision = {
    actionId,
    planHash,
    by: 'UONCALL',
    decision: 'approve',
    reason: '',
    anotherWay: false,
  } as const;
  expect(await at.approvals.decide(decision)).toMatchObject({ ok: true });
}

/** Saved between *Approve* and the run: what the record says then has been done since. */
beforeAll(async () => {
  before = await core();
  const opened = await before.accept(boxAlert());
  if (!opened.incidentId) throw new Error('no incident');
  id = opened.incidentId;
  await before.start();
  await waitFor('a card', async () => (await stateOf(before)) === 'awaiting_approval');
  await before.engine.stop(2_000);
  await before.sql`UPDATE incident SET cause = ${ODD} WHERE id = ${id}`;
  await approve(before);
  await backUp(urlOf(before), file, {});
}, 60_000);
afterAll(async () => {
  for (const made of cores) await made.stop();
  await Promise.all(databases.map((database) => database.drop()));
});

test('every row comes back as it was, and the audit log is whole [C9]', async () => {
  after = await core();
  await restore(urlOf(after), file, { force: false, afterwards: async () => undefined });
  const rows = (at: Core, table: string) =>
    at.sql<{ text: string }>`
      SELECT query_to_xml(format('SELECT * FROM %s t ORDER BY t::text', ${table}::text), true, false, '')::text AS text`;
  const tables = await before.sql<{ name: string }>`
    SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname IN ('public', 'dbos')`;
  for (const { name } of tables)
    if (!/\.(process|_prisma_migrations)$/.test(name))
      expect(await rows(after, name), name).toEqual(await rows(before, name));
  expect((await after.records.incident(id))?.cause).toBe(ODD);
  expect(await verifyAuditLog(after.sql, { key: null, witnessed: [] })).toMatchObject({ ok: true });
});

test('what is there already is replaced only by force, and never under a process that works on it [C9]', async () => {
  await expect(bring(after)).rejects.toMatchObject({ code: 'RECORD_NOT_EMPTY' });
  await after.sql`INSERT INTO process (executor_id, pid, host) VALUES ('other', 1, 'elsewhere')`;
  await expect(bring(after, file, true)).rejects.toMatchObject({ code: 'RECORD_IN_USE' });
  await after.sql`DELETE FROM process`;
});

test.each([
  ['cut short', (text: Buffer) => text.subarray(0, text.length - 40)],
  ['cut short before it was packed', (_: Buffer, plain: string) => gzipSync(plain.slice(0, -2_000))],
  ['without its last line', (_: Buffer, plain: string) => gzipSync(plain.replace(/\n[^\n]*\n$/, '\n'))],
  ['of something else', () => gzipSync('{"hello":1}\n')],
  ['that is not packed', (_: Buffer, plain: string) => Buffer.from(plain)],
])('a file %s is refused, and the record stays as it is [C9]', async (_, spoil) => {
  const packed = readFileSync(file);
  const spoilt = join(scratchDir(), 'spoilt');
  writeFileSync(spoilt, spoil(packed, gunzipSync(packed).toString()));
  await after.sql`UPDATE incident SET cause = 'kept' WHERE id = ${id}`;
  await expect(bring(after, spoilt, true)).rejects.toMatchObject({ code: 'BACKUP_BROKEN' });
  expect((await after.records.incident(id))?.cause).toBe('kept');
});

test('a backup of another version is refused with the way to go [C9]', async () => {
  const plain = gunzipSync(readFileSync(file)).toString();
  const newer = join(scratchDir(), 'newer');
  writeFileSync(newer, gzipSync(plain.replace(/"record":"\d+/, '"record":"29990101000000')));
  await expect(bring(after, newer, true)).rejects.toMatchObject({
    code: 'BACKUP_VERSION',
    hint: expect.stringContaining('the version that made it'),
  });
});

test('what was done after the backup is not done again: it is asked for anew, and the thread says why [C9]', {
  timeout: 120_000,
}, async () => {
  machine.effects = 1;
  const url = urlOf(after);
  await bring(after, file, true);
  // No process runs meanwhile: the next one opens what was restored.
  after = await createCore({ url, tools: boxTools(machine) });
  cores.push(after);
  expect((await lastAction(after))?.state).toBe('void');
  expect(await after.sql`SELECT 1 FROM switch WHERE scope = '*' AND stopped`).toHaveLength(1);
  const told = (await after.records.load(id))?.events.filter(({ type }) => type === 'record.restored');
  expect(told).toHaveLength(1);
  await after.sql`UPDATE switch SET stopped = false`;
  await after.start();
  const old = (await lastAction(after))?.id;
  await waitFor(
    'a new card',
    async () => {
      const action = await lastAction(after);
      return (
        action?.state === 'proposed' && action.id !== old && (await stateOf(after)) === 'awaiting_approval'
      );
    },
    { timeoutMs: 60_000 },
  );
  expect(machine.effects).toBe(1);
  await approve(after);
  await waitFor('it to be resolved', async () => (await stateOf(after)) === 'resolved', {
    timeoutMs: 60_000,
  });
  expect(machine.effects).toBe(2);
  const next = await after.accept({ ...boxAlert(), fingerprint: 'another problem' });
  expect(Number(next.incidentId?.slice(4))).toBeGreaterThan(1_000);
  expect(await verifyAuditLog(after.sql, { key: null, witnessed: [] })).toMatchObject({ ok: true });
});

test('a table whose end is more than a stream holds is written to its end [C9]', async () => {
  for (const size of [20_000, 200_000]) {
    await before.sql`UPDATE incident SET cause = ${'x'.repeat(size)} WHERE id = ${id}`;
    const whole = join(scratchDir(), 'long');
    await backUp(urlOf(before), whole, {});
    expect(gunzipSync(readFileSync(whole)).toString()).toContain('x'.repeat(size));
  }
});
