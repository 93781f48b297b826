import { spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import {
  isRunning,
  type ProcessIdentity,
  processIdentity,
} from '../../src/infra/process/process-identity.ts';
import { removeWithProcesses } from './processes-under.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of this test run; removed at its end, with the servers in it stopped. */
    readonly scratchRoot: string;
  }
}

const prefix = 'sentry-test-';

/** Vitest's global setup: one folder a run. Starts nothing: the servers start when a test first asks for one. */
export async function setup(project: Pick<TestProject, 'provide'>): Promise<() => Promise<void>> {
  await removeAbandoned();
  const { root, owner } = makeRoot();
  makeServers(join(root, 'servers'));
  startReaper(root, `${owner?.pid}@${owner?.startedAt}`);
  project.provide('scratchRoot', root);
  return () => removeWithProcesses(root);
}

/** The folder alone: unit tests start nothing that would have to be stopped. */
export function makeRoot(): { readonly root: string; readonly owner: ProcessIdentity | undefined } {
  const root = mkdtempSync(join(tmpdir(), prefix));
  // The postgres user must reach the data when root runs the tests.
  chmodSync(root, 0o755);
  const owner = processIdentity(process.pid);
  writeFileSync(join(root, 'owner.json'), JSON.stringify(owner));
  return { root, owner };
}

/** Linux's file system in memory. Where a container has little of it (64 MB is Docker's default), the disk must do. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 1024 ** 3;

/**
 * What the servers of a run keep is read and written by most tests, and by nobody after the run: in memory it costs about
 * half of the processor's time. `removeWithProcesses` follows the link.
 */
function makeServers(servers: string): void {
  if (!hasRoom()) {
    mkdirSync(servers, { mode: 0o755 });
    return;
  }
  const memory = mkdtempSync(join(MEMORY, prefix));
  chmodSync(memory, 0o755);
  symlinkSync(memory, servers);
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ROOM_BYTES;
  } catch {
    // Not Linux.
    return false;
  }
}

/**
 * In a session of its own, so that what ends the run (Ctrl-C, the end of a terminal) does not end it as well. Vitest's
 * workers, and what they start with their own environment, are known to it by SENTRY_TEST_RUN.
 */
function startReaper(root: string, run: string): void {
  const script = fileURLToPath(new URL('./reaper.mjs', import.meta.url));
  const { SENTRY_TEST_RUN: _, ...env } = process.env;
  const reaper = spawn(process.execPath, [script, root, run], {
    detached: true,
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  process.env['SENTRY_TEST_RUN'] = run;
  reaper.unref();
  (reaper.stdin as unknown as { unref(): void }).unref();
}

/** What a run has left behind that was killed together with its reaper. */
async function removeAbandoned(): Promise<void> {
  for (const entry of readdirSync(tmpdir())) {
    if (!entry.startsWith(prefix)) continue;
    const root = join(tmpdir(), entry);
    const owner = ownerOf(root);
    if (owner !== undefined && !isRunning(owner)) await removeWithProcesses(root);
  }
}

function ownerOf(root: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(join(root, 'owner.json'), 'utf8')) as ProcessIdentity;
  } catch {
    // Not a folder of ours, of another user, or being made right now: not ours to remove.
    return undefined;
  }
}
