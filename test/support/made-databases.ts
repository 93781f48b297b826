import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { withFileLock } from '../../src/infra/process/file-lock.ts';
import { quiet } from './quiet.ts';

type Name = 'record' | 'shop';

/** Another worker makes it on a busy machine. */
const WAIT_MS = 120_000;

/**
 * Puts the record's PostgreSQL, new and migrated, or shop-db's into a folder that does not exist or is empty, as a first start
 * there would make it. Each is made once a test run and copied: initdb and the rows of the shop cost a start two seconds of a
 * processor each. All copies have the password and the system identifier of the one.
 */
export async function layDatabase(name: Name, folder: string): Promise<void> {
  const made = await madeDatabase(name);
  mkdirSync(folder, { recursive: true });
  // With their owners: root's PostgreSQL runs as somebody else.
  execFileSync('cp', ['-a', `${made}/.`, folder]);
}

async function madeDatabase(name: Name): Promise<string> {
  const made = join(inject('scratchRoot'), 'servers', `made-${name}`);
  if (existsSync(made)) return made;
  return withFileLock(`${made}.lock`, WAIT_MS, async () => {
    if (existsSync(made)) return made;
    const draft = `${made}.draft`;
    // Of a worker that was killed.
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft);
    await makers[name](draft);
    renameSync(draft, made);
    return made;
  });
}

/** Loaded by the one worker that makes it. */
const makers: Readonly<Record<Name, (folder: string) => Promise<void>>> = {
  async record(folder) {
    const { startEmbeddedPostgres } = await import('../../src/infra/db/embedded/start-embedded-postgres.ts');
    const { migrateDatabase } = await import('../../src/infra/db/migrate.ts');
    const { openDatabase } = await import('../../src/infra/db/client.ts');
    const { migrateEngine } = await import('../../src/infra/dbos/enqueue-function.ts');
    const server = await startEmbeddedPostgres({ dataDir: folder, name: 'sentry', log: quiet });
    await migrateDatabase(server.url, fileURLToPath(new URL('../../prisma/migrations', import.meta.url)));
    const { sql, close } = openDatabase(server.url, { max: 1 });
    await migrateEngine(server.url, sql).finally(close);
    await server.stop();
    forgetStart(folder);
  },
  async shop(folder) {
    const { startShop } = await import('../../playground/faults/postgres/shop.ts');
    await (await startShop(folder, quiet)).stop();
    forgetStart(join(folder, 'shop-db'));
  },
};

/** Copies that run at once would all want the port of the one. */
function forgetStart(dataDir: string): void {
  const path = join(dataDir, 'server.json');
  const { port: _, logFrom: __, ...state } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify(state));
  rmSync(join(dataDir, 'server.log'), { force: true });
}
