import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { stopEmbeddedChroma } from '../../src/infra/chroma/embedded/stop-embedded-chroma.ts';
import { stopEmbeddedPostgres } from '../../src/infra/db/embedded/shut-down.ts';
import {
  isRunning,
  type ProcessIdentity,
  processIdentity,
} from '../../src/infra/process/process-identity.ts';
import { quiet } from './quiet.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of this test run; removed at its end, with the servers in it stopped. */
    readonly scratchRoot: string;
  }
}

const prefix = 'sentry-test-';

/** Vitest's global setup: one folder a run. Starts nothing: the servers start when a test first asks for one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeAbandoned();
  const root = mkdtempSync(join(tmpdir(), prefix));
  // The postgres user must reach the data when root runs the tests.
  chmodSync(root, 0o755);
  writeFileSync(join(root, 'owner.json'), JSON.stringify(processIdentity(process.pid)));
  mkdirSync(join(root, 'servers'), { mode: 0o755 });
  project.provide('scratchRoot', root);
  return () => removeRoot(root);
}

async function removeRoot(root: string): Promise<void> {
  await stopEmbeddedPostgres(join(root, 'servers', 'postgres'), quiet);
  await stopEmbeddedChroma(join(root, 'servers', 'chroma'), quiet);
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}

/** What a run that was killed has left behind. */
async function removeAbandoned(): Promise<void> {
  for (const entry of readdirSync(tmpdir())) {
    if (!entry.startsWith(prefix)) continue;
    const root = join(tmpdir(), entry);
    const owner = ownerOf(root);
    if (owner !== undefined && !isRunning(owner)) await removeRoot(root);
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
