import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { childEnv, sharedRoot } from './binaries.ts';
import type { RunAs } from './run-as.ts';

/**
 * The folder that holds the cluster's folder: null for `dataDir` itself, or, when root starts PostgreSQL for a user who cannot
 * reach `dataDir`, a new folder under `sharedRoot`. Only asked once in a data folder's life; the answer is remembered
 * in `server.json`, so that the data is found again after the parent was opened or closed.
 */
export function chooseHome(dataDir: string, runAs: RunAs | undefined): string | null {
  if (runAs === undefined) return null;
  chmodSync(dataDir, 0o755);
  if (canEnter(dataDir, runAs)) return null;
  const home = join(sharedRoot, 'data', randomUUID());
  mkdirSync(home, { recursive: true, mode: 0o755 });
  chmodSync(dirname(home), 0o755);
  chmodSync(home, 0o755);
  return home;
}

/** A fresh folder for initdb, owned by the user it runs as. */
export function makeDraft(home: string, runAs: RunAs | undefined): string {
  const draft = join(home, `cluster.draft-${process.pid}`);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  if (runAs !== undefined) chownSync(draft, runAs.uid, runAs.gid);
  return draft;
}

/** Tried by that user rather than worked out from modes: access lists and mount options count too. */
function canEnter(folder: string, runAs: RunAs): boolean {
  const run = spawnSync('/bin/sh', ['-c', 'cd -- "$0"', folder], { cwd: '/', env: childEnv, ...runAs });
  return run.status === 0;
}
