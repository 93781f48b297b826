import { appendFileSync, chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { doctor } from '../../../../src/app/doctor.ts';
import { loadConfig } from '../../../../src/config/config.ts';
import type { Sql } from '../../../../src/core/sql.ts';
import { type Database, openDatabase } from '../../../../src/infra/db/client.ts';
import { type AuditLog, createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { createAuditCheck, verifyHere } from '../../../../src/safety/audit/audit-check.ts';
import {
  asCheckpoint,
  type CheckpointKey,
  openCheckpointKey,
} from '../../../../src/safety/audit/audit-checkpoint.ts';
import { hashOf, readChain, verifyAuditLog } from '../../../../src/safety/audit/audit-verify.ts';
import {
  type AuditWitness,
  checkpointLine,
  createAuditWitness,
  readWitnessed,
} from '../../../../src/safety/audit/audit-witness.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import type { Row } from '../../../support/typed.ts';
import { waitFor } from '../../../support/wait-for.ts';

let scratch: ScratchDatabase;
let database: Database;
let sql: Sql;
let audit: AuditLog;
let dataDir: string;
let key: CheckpointKey;
let witness: AuditWitness;

beforeEach(async () => {
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url, { max: 3 });
  ({ sql } = database);
  // The driver learns the array types with its first statement.
  await sql`SELECT 1`;
  audit = createAuditLog(sql);
  dataDir = scratchDir();
  key = openKey(dataDir);
  witness = createAuditWitness({ sql, audit, key, dataDir, log: quiet });
  await append(50);
  await witness.take();
  await append(50);
});
afterEach(async () => {
  await database.close();
  await scratch.drop();
});

const witnessFile = (): string => join(dataDir, 'audit-checkpoints.jsonl');
function openKey(folder: string): CheckpointKey {
  const opened = openCheckpointKey(folder, { make: true });
  if (!opened) throw new Error('no key');
  return opened;
}
async function append(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await audit.append({ kind: 'test', actor: 'system', details: { n } });
}
const verify = () => verifyAuditLog(sql, { key, witnessed: readWitnessed(dataDir) });

/** What whoever owns the database can do: a whole log made anew, with right links and a right head. */
async function rewrite(change: (body: string, seq: number) => string | null): Promise<void> {
  const bodies: string[] = [];
  for await (const { body, seq } of readChain(sql)) {
    const kept = change(body, seq);
    if (kept !== null) bodies.push(kept);
  }
  await sql`ALTER TABLE audit_entry DISABLE TRIGGER ALL`;
  await sql`DELETE FROM audit_entry`;
  await sql`UPDATE audit_head SET seq = 0, hash = repeat('0', 64)`;
  await sql`SELECT audit_append(${sql.array(bodies)}::text[])`;
}

test('a log with its checkpoints is right, and says how many it has', async () => {
  expect(await verify()).toMatchObject({ ok: true, entries: 101, checkpoints: 2, unchecked: 0 });
});

test('a log and head cut off together are found by the checkpoint beside the database', async () => {
  await rewrite((body, seq) => (seq <= 40 ? body : null));
  expect(await verifyAuditLog(sql, { key: null, witnessed: [] })).toMatchObject({ ok: true, entries: 40 });
  expect(await verify()).toMatchObject({ ok: false, seq: 41 });
});

test('a log written anew with all links right is found', async () => {
  await rewrite((body, seq) => (seq === 10 ? body.replace('"n":9', '"n":8') : body));
  expect(await verify()).toMatchObject({ ok: false, seq: 50 });
  // Also by the signed entry in it, where the file is gone.
  rmSync(witnessFile());
  expect(await verify()).toMatchObject({ ok: false, seq: 51 });
});

test('a checkpoint forged without the key is found, in the log and beside it', async () => {
  const forged = { ...openKey(scratchDir()).sign({ seq: 60, hash: 'a'.repeat(64) }), key: key.id };
  const before = readFileSync(witnessFile(), 'utf8');
  appendFileSync(witnessFile(), `${JSON.stringify(forged)}\n`);
  expect(await verify()).toMatchObject({ ok: false, seq: 60 });
  writeFileSync(witnessFile(), before);
  expect(await verify()).toMatchObject({ ok: true });

  const [row] = await sql<Row>`SELECT hash FROM audit_entry WHERE seq = 60`;
  const wrong = openKey(scratchDir()).sign({ seq: 60, hash: String(row?.['hash']) });
  await audit.append({ kind: 'audit.checkpoint', actor: 'system', details: { ...wrong, key: key.id } });
  expect(await verify()).toMatchObject({ ok: false, seq: 102 });
});

test('a checkpoint of a key that is not here is counted, and its place is checked', async () => {
  const other = openKey(scratchDir());
  const [row] = await sql<Row>`SELECT hash FROM audit_entry WHERE seq = 60`;
  const details = { ...other.sign({ seq: 60, hash: String(row?.['hash']) }) };
  await audit.append({ kind: 'audit.checkpoint', actor: 'system', details });
  expect(await verify()).toMatchObject({ ok: true, checkpoints: 2, unchecked: 1 });
});

test('a file of checkpoints that is none is said to be, not skipped', async () => {
  appendFileSync(witnessFile(), 'not a checkpoint\n');
  expect(() => readWitnessed(dataDir)).toThrow(/line 2, is no checkpoint/);
});

test('the key is made once, can be read by its owner only, and a wider mode is narrowed', () => {
  const file = join(dataDir, 'audit-key.pem');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(openKey(dataDir).id).toBe(key.id);
  chmodSync(file, 0o644);
  expect(openKey(dataDir).id).toBe(key.id);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, 'no key');
  expect(() => openKey(dataDir)).toThrow(/cannot be used/);
});

test('nothing new is signed when nothing came but checkpoints', async () => {
  expect(await witness.take()).toMatchObject({ seq: 101 });
  const other = createAuditWitness({
    sql,
    audit,
    key: openKey(scratchDir()),
    dataDir: scratchDir(),
    log: quiet,
  });
  await other.take();
  expect(await witness.take()).toBeNull();
  await append(1);
  expect(await witness.take()).not.toBeNull();
});

test('the numbers hashed are those of audit_append()', async () => {
  for await (const entry of readChain(sql, { from: 1, to: 3 })) expect(hashOf(entry)).toBe(entry.hash);
});

test('what was posted finds a log written anew together with everything on this machine', async () => {
  const posted: string[] = [];
  const spoken = createAuditWitness({
    sql,
    audit,
    key,
    dataDir,
    log: quiet,
    post: async (checkpoint) => void posted.push(checkpointLine(checkpoint)),
  });
  await spoken.take();
  await append(1);
  // Not more often than people want to read.
  await spoken.take();
  expect(posted).toHaveLength(1);
  const kept = asCheckpoint(JSON.parse(/'(\{.*\})'/.exec(posted[0] ?? '')?.[1] ?? ''));
  if (!kept) throw new Error('no checkpoint');
  expect(await verifyAuditLog(sql, { key, witnessed: [kept] })).toMatchObject({ ok: true, checkpoints: 4 });

  await rewrite((body, seq) => (seq <= 40 ? body : null));
  rmSync(witnessFile());
  expect(await verify()).toMatchObject({ ok: true, entries: 40 });
  expect(await verifyAuditLog(sql, { key, witnessed: [kept] })).toMatchObject({ ok: false, seq: 41 });
});

test('a channel that cannot be reached holds up no checkpoint, and hears the next one', async () => {
  let reachable = false;
  const posted: number[] = [];
  const spoken = createAuditWitness({
    sql,
    audit,
    key,
    dataDir,
    log: quiet,
    post: async ({ seq }) => {
      if (!reachable) throw new Error('channel_not_found');
      posted.push(seq);
    },
  });
  expect(await spoken.take()).toMatchObject({ seq: 101 });
  reachable = true;
  await append(1);
  await spoken.take();
  expect(posted).toEqual([103]);
});

test('of several processes each keeps its own file, and one enters and posts it for all [C10]', async () => {
  const posted: string[] = [];
  const bots = [1, 2, 3].map((n) => {
    const folder = scratchDir();
    const own = openKey(folder);
    const post = async ({ seq }: { readonly seq: number }) => void posted.push(`bot ${n} at ${seq}`);
    return {
      folder,
      own,
      witness: createAuditWitness({ sql, audit, key: own, dataDir: folder, log: quiet, post }),
    };
  });
  const entered = async () =>
    (await sql`SELECT FROM audit_entry WHERE body LIKE '%"kind":"audit.checkpoint"%'`).length;
  const before = await entered();
  for (let round = 1; round <= 3; round += 1) {
    await append(5);
    await Promise.all(bots.map((bot) => bot.witness.take()));
    expect(await entered()).toBe(before + round);
  }
  expect(posted).toHaveLength(1);
  const { count = 0 } = (await sql<{ count: number }>`SELECT seq AS count FROM audit_head`)[0] ?? {};
  for (const { folder, own } of bots) {
    const witnessed = readWitnessed(folder);
    expect(witnessed.map(({ key: by }) => by)).toEqual([own.id, own.id, own.id]);
    expect(await verifyAuditLog(sql, { key: own, witnessed })).toMatchObject({ ok: true, entries: count });
  }
  // Whichever was posted or entered: each machine finds by its own file alone that the log was cut off.
  await rewrite((body, seq) => (seq <= 101 ? body : null));
  for (const { folder, own } of bots)
    expect(await verifyAuditLog(sql, { key: own, witnessed: readWitnessed(folder) })).toMatchObject({
      ok: false,
    });
});

test('a quarter of an hour later, or after the clock was set back, the next is posted, by whichever process [C10]', async () => {
  const posted: number[] = [];
  const spoken = () =>
    createAuditWitness({
      sql,
      audit,
      key: openKey(scratchDir()),
      dataDir: scratchDir(),
      log: quiet,
      post: async ({ seq }) => void posted.push(seq),
    });
  const next = async () => {
    await append(1);
    await spoken().take();
    return posted.length;
  };
  expect([await next(), await next()]).toEqual([1, 1]);
  for (const moved of ['-16 minutes', '+1 hour']) {
    await sql`UPDATE seen_setting SET at = clock_timestamp() + ${moved}::interval`;
    await next();
  }
  expect(posted).toHaveLength(3);
});

describe('once a look is over', () => {
  afterEach(() => witness.stop());

  test.each([
    { kind: 'approval.decided', details: { action: 'act_1', decision: 'approve' } },
    { kind: 'gate.outcome', details: { action: 'act_1', outcome: 'succeeded' } },
  ])('$kind cannot be cut off with all that came since the last checkpoint [F15]', async (entry) => {
    witness.start();
    await waitFor('the first look', async () => (await verify()).entries === 102);
    await audit.append({ ...entry, actor: 'UAPPROVER' });
    await waitFor('its checkpoint', async () => readWitnessed(dataDir).at(-1)?.seq === 103);
    await waitFor('its entry', async () => (await verify()).entries === 104);
    await append(3);
    expect(await verify()).toMatchObject({ ok: true, entries: 107 });
    await rewrite((body, seq) => (seq < 103 ? body : null));
    expect(await verify()).toMatchObject({ ok: false, seq: 103 });
  });

  test('what no person decided and what only read waits for the next one, also when it quotes what was [F15]', async () => {
    witness.start();
    await waitFor('the first look', async () => readWitnessed(dataDir).length === 2);
    const quoted = '{"kind":"approval.decided"} {"kind":"gate.outcome","action":"act_1"}';
    await audit.append({ kind: 'gate.outcome', actor: 'detective', details: { toolCall: 'tc_1', quoted } });
    await audit.append({ kind: 'approval.decided', actor: 'U1', details: { action: 'act_2' } });
    await waitFor('one for both', async () => readWitnessed(dataDir).at(-1)?.seq === 104);
    expect(readWitnessed(dataDir).map(({ seq }) => seq)).toEqual([50, 101, 104]);
  });
});

describe('nobody has to ask whether the log is whole', () => {
  const checked = (metrics: Registry, tell: (text: string) => Promise<void>) =>
    createAuditCheck({
      verify: (signal) => verifyHere(sql, dataDir, signal),
      metrics,
      log: quiet,
      tell,
      everyMs: 20,
    });
  const isWhole = async (metrics: Registry): Promise<string | undefined> =>
    /^sentry_audit_log_whole (\d)/m.exec(await metrics.metrics())?.[1];

  test('an entry edited in place is found, said once, and shown [F15] [S-36]', async () => {
    const metrics = new Registry();
    const told: string[] = [];
    const check = checked(metrics, async (text) => void told.push(text));
    expect(await isWhole(metrics)).toBeUndefined();
    check.start();
    await waitFor('the first check', async () => (await isWhole(metrics)) === '1');
    await sql`ALTER TABLE audit_entry DISABLE TRIGGER ALL`;
    await sql`UPDATE audit_entry SET body = replace(body, '"n":6', '"n":7') WHERE seq = 7`;
    await waitFor('the next one', async () => (await isWhole(metrics)) === '0');
    expect(check.last()).toMatchObject({ ok: false, seq: 7 });
    await sql`UPDATE audit_entry SET body = replace(body, '"n":7', '"n":6') WHERE seq = 7`;
    await waitFor('it is whole again', async () => (await isWhole(metrics)) === '1');
    await check.stop();
    expect(told).toEqual([
      expect.stringContaining('The audit log is not as it was written. Entry 7 is not what was written'),
    ]);
  });

  test('the doctor fails for it, as nobody could tell any more what was done [F15]', async () => {
    const config = loadConfig({
      DATABASE_URL: scratch.url,
      SENTRY_DATA_DIR: dataDir,
      MEMORY_ENABLED: 'false',
    });
    const layer3 = async () => (await doctor(config, quiet)).find(({ part }) => part === 'Layer 3');
    expect(await layer3()).toMatchObject({ ok: true, required: true });
    await sql`ALTER TABLE audit_entry DISABLE TRIGGER ALL`;
    await sql`UPDATE audit_entry SET body = replace(body, '"n":6', '"n":7') WHERE seq = 7`;
    expect(await layer3()).toMatchObject({ ok: false, required: true });
  });

  test('what could not be said is said as soon as it can be, and a ruined file of checkpoints is no whole log [F15]', async () => {
    appendFileSync(witnessFile(), '{"seq":50}\n');
    const told: string[] = [];
    let reachable = false;
    const check = checked(new Registry(), async (text) => {
      if (!reachable) throw new Error('Slack is away');
      told.push(text);
    });
    check.start();
    await waitFor('the first check', async () => check.last() !== null);
    reachable = true;
    await waitFor('somebody hears of it', async () => told.length > 0);
    await check.stop();
    expect(told).toEqual([expect.stringContaining('line 2, is no checkpoint')]);
  });

  test('a check that is under way holds up no stop [F15]', async () => {
    const check = createAuditCheck({
      verify: (signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('broken off')));
        }),
      metrics: new Registry(),
      log: quiet,
      tell: async () => undefined,
    });
    check.start();
    await check.stop();
    expect(check.last()).toBeNull();
  });
});
