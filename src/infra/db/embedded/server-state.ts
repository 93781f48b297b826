import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { OpsError } from '../../../core/errors.ts';
import type { Holder } from '../../process/holders.ts';
import { readStateFile, writeStateFile } from '../../process/state-file.ts';

/** What is remembered between starts, in `<dataDir>/server.json`, mode 0600. */
export interface ServerState {
  readonly version: 1;
  /**
   * The folder that holds `cluster` when it is not the data folder itself (see `chooseHome`). Null otherwise, so that a
   * data folder that was moved or copied works with its own data.
   */
  readonly home: string | null;
  readonly password: string;
  /** True once initdb has finished: from then on a missing cluster is a loss, not a first start. */
  readonly initialised: boolean;
  readonly port?: number;
  readonly holders: readonly Holder[];
}

export function newState(home: string | null): ServerState {
  return {
    version: 1,
    home,
    password: randomBytes(24).toString('base64url'),
    initialised: false,
    holders: [],
  };
}

/** @throws OpsError POSTGRES_STATE when the file is not ours or broken. */
export function readState(dataDir: string): ServerState | undefined {
  const path = join(dataDir, 'server.json');
  const text = readStateFile(path);
  if (text === undefined) return undefined;
  try {
    const state = JSON.parse(text) as ServerState;
    if (state.version === 1 && typeof state.password === 'string' && typeof state.holders === 'object')
      return state;
    throw new Error('fields are missing');
  } catch (error) {
    throw new OpsError('POSTGRES_STATE', `${path} is not what Sentry wrote there`, {
      hint: 'It holds the password of the embedded PostgreSQL: restore it from a backup, or move its folder away to start empty.',
      cause: error,
    });
  }
}

export function writeState(dataDir: string, state: ServerState): void {
  writeStateFile(join(dataDir, 'server.json'), `${JSON.stringify(state, null, 2)}\n`);
}

/** Where the cluster of a data folder is. */
export function clusterOf(dataDir: string, state: ServerState): string {
  return join(state.home ?? dataDir, 'cluster');
}
