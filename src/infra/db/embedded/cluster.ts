import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { OpsError } from '../../../core/errors.ts';
import { readStateFile } from '../../process/state-file.ts';
import { childEnv, type PostgresBinaries } from './binaries.ts';
import { postgresFault } from './faults.ts';
import { makeDraft } from './place.ts';
import type { RunAs } from './run-as.ts';

export const superuser = 'postgres';
const settingsFile = 'sentry.conf';

/**
 * A new cluster at `<home>/cluster`: scram, UTF-8, sorted the same on every system (the builtin provider). Made under
 * another name and renamed, so that a kill half-way leaves nothing that looks like a cluster. Not synced by initdb:
 * a power cut in the first seconds costs an empty database, and the first start is 0.5 s sooner.
 */
export function initCluster(
  name: string,
  home: string,
  password: string,
  binaries: PostgresBinaries,
  runAs: RunAs | undefined,
): void {
  removeDrafts(home);
  const draft = makeDraft(home, runAs);
  const passwordFile = `${draft}.password`;
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (runAs !== undefined) chownSync(passwordFile, runAs.uid, runAs.gid);
  const run = spawnSync(
    binaries.initdb,
    [
      `--pgdata=${draft}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-sync',
      '--no-instructions',
    ],
    { encoding: 'utf8', cwd: draft, env: childEnv, ...runAs },
  );
  rmSync(passwordFile, { force: true });
  if (run.status !== 0) {
    removeDrafts(home);
    throw postgresFault(name, 'initialise', `${run.stdout ?? ''}\n${run.stderr ?? ''}`, run.error);
  }
  appendFileSync(join(draft, 'postgresql.conf'), `\ninclude_if_exists = '${settingsFile}'\n`);
  renameSync(draft, join(home, 'cluster'));
}

function removeDrafts(home: string): void {
  for (const entry of readdirSync(home)) {
    if (entry.startsWith('cluster.draft-')) rmSync(join(home, entry), { recursive: true, force: true });
  }
}

/** @throws OpsError POSTGRES_VERSION when the data was written by another major version. */
export function checkVersion(name: string, cluster: string, binaries: PostgresBinaries): void {
  const found = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  if (found === binaries.major) return;
  throw new OpsError(
    'POSTGRES_VERSION',
    `the data of "${name}" in ${cluster} is of PostgreSQL ${found}, this Sentry brings ${binaries.major}`,
    {
      hint:
        `Export it with the Sentry version that wrote it running: pg_dumpall -h 127.0.0.1 -p <port> -U postgres > sentry.sql ` +
        `(port and password are in server.json in its data folder; pg_dumpall ${binaries.major} comes with your system's postgresql-client package). Then move the folder away, start this version, ` +
        `and import: psql -d <the new url> -f sentry.sql. Or set DATABASE_URL to a PostgreSQL ${found} of your own.`,
    },
  );
}

/**
 * Settings live in a file, not on the command line, so that ALTER SYSTEM and a reload can change them.
 *
 * @returns whether the file changed (a running server then still has the old ones).
 */
export function writeSettings(
  cluster: string,
  settings: Readonly<Record<string, string>>,
  runAs: RunAs | undefined,
): boolean {
  const text = Object.entries(settings)
    .map(([key, value]) => `${key} = '${value.replaceAll("'", "''")}'\n`)
    .join('');
  const path = join(cluster, settingsFile);
  if (readStateFile(path) === text) return false;
  writeFileSync(path, text, { mode: 0o600 });
  if (runAs !== undefined) chownSync(path, runAs.uid, runAs.gid);
  return true;
}
