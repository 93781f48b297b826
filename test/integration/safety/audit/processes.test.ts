import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../../src/infra/db/client.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { openCheckpointKey } from '../../../../src/safety/audit/audit-checkpoint.ts';
import { verifyAuditLog } from '../../../../src/safety/audit/audit-verify.ts';
import { createAuditWitness } from '../../../../src/safety/audit/audit-witness.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { sentry as runSentry } from '../../../support/product.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import type { Row } from '../../../support/typed.ts';

const run = promisify(execFile);
const worker = fileURLToPath(new URL('./append-worker.ts', import.meta.url));
const execWorker = (...args: readonly string[]) =>
  run(process.execPath, ['--import', 'tsx', worker, ...args]);
const dataDir = scratchDir();
const PROCESSES = 4;
const EACH = 300;

let scratch: ScratchDatabase;
let database: Database;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url, { max: 3 });
});
afterAll(async () => {
  await database.close();
  await scratch.drop();
});

async function sentry(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly out: string }> {
  const { code, stdout, stderr } = await runSentry({ dataDir, env: { DATABASE_URL: scratch.url } }, args);
  return { code, out: code === 0 ? stdout : `${stdout}${stderr}` };
}

test(`${PROCESSES} processes append at once: one chain, no gap, no fork, each in its own order`, async () => {
  await Promise.all(
    Array.from({ length: PROCESSES }, (_, n) =>
      execWorker('--url', scratch.url, '--name', `p${n}`, '--count', String(EACH), '--at-once', '1'),
    ),
  );
  const found = await verifyAuditLog(database.sql, { key: null, witnessed: [] });
  expect(found).toMatchObject({ ok: true, entries: PROCESSES * EACH });
  const rows = await database.sql<Row>`
    SELECT body::json->'details'->>'process' AS process, (body::json->'details'->>'n')::int AS n FROM audit_entry ORDER BY seq`;
  for (let process = 0; process < PROCESSES; process += 1)
    expect(rows.filter((row) => row['process'] === `p${process}`).map((row) => row['n'])).toEqual(
      Array.from({ length: EACH }, (_, n) => n),
    );
});

test('the command verifies, shows and exports the log, and fails on the first bad entry', async () => {
  const key = openCheckpointKey(dataDir, { make: true });
  if (!key) throw new Error('no key');
  const { sql } = database;
  await createAuditWitness({ sql, audit: createAuditLog(sql), key, dataDir, log: quiet }).take();
  const entries = PROCESSES * EACH + 1;
  const good = await sentry('audit', 'verify');
  expect(good).toMatchObject({ code: 0 });
  expect(good.out).toContain(`${entries} entries, 2 signed checkpoints: all as written`);

  const last = (await sentry('audit', 'tail', '-n', '2')).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(last.map((line) => line.seq)).toEqual([entries - 1, entries]);
  expect(last[1]).toMatchObject({ entry: { kind: 'audit.checkpoint', details: { key: key.id } } });
  const exported = (await sentry('audit', 'export', '--from', '5', '--to', '8')).out.trim().split('\n');
  expect(exported.map((line) => JSON.parse(line).seq)).toEqual([5, 6, 7, 8]);

  await sql`ALTER TABLE audit_entry DISABLE TRIGGER ALL`;
  await sql`UPDATE audit_entry SET body = replace(body, 'system', 'nobody') WHERE seq = 77`;
  const bad = await sentry('audit', 'verify');
  expect(bad).toMatchObject({ code: 1 });
  expect(bad.out).toContain('Bad at entry 77: Entry 77 is not what was written.');
  expect(JSON.parse((await sentry('audit', 'verify', '--json')).out)).toMatchObject({ ok: false, seq: 77 });
});
