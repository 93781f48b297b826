import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { OpsError } from '../../core/errors.ts';
import { isRunning, ownIdentity, type ProcessIdentity } from '../process/process-identity.ts';
import { readStateFile, writeStateFile } from '../process/state-file.ts';

/** One user of a child: a handle in a process. The child is ended when the last living one lets go. */
export interface Holder extends ProcessIdentity {
  readonly token: string;
}

/** What is remembered between starts, in `<dataDir>/server.json`, mode 0600. */
export interface ChildState {
  /** Of the file's shape. */
  readonly version: 1;
  readonly holders: readonly Holder[];
  /** Missing: it was never started. */
  readonly port?: number;
  /** Where in `server.log` the words of the last one started begin, bytes. */
  readonly logFrom?: number;
}

/** What is known so far: nothing before a first start. @throws OpsError CHILD_STATE when the file is not ours or broken. */
export function readState<State extends ChildState = ChildState>(dataDir: string): Partial<State> {
  const path = join(dataDir, 'server.json');
  const text = readStateFile(path);
  if (text === undefined) return {} as Partial<State>;
  try {
    const state = JSON.parse(text) as State;
    if (state.version === 1 && Array.isArray(state.holders)) return state;
    throw new Error('fields are missing');
  } catch (error) {
    throw new OpsError('CHILD_STATE', `${path} is not what Sentry wrote there`, {
      hint: 'Restore it from a backup, or move its folder away to start empty.',
      cause: error,
    });
  }
}

/** Changes these fields and keeps the others. */
export function remember<State extends ChildState>(dataDir: string, change: Partial<State>): void {
  const state = { version: 1, holders: [], ...readState<State>(dataDir), ...change };
  writeStateFile(join(dataDir, 'server.json'), `${JSON.stringify(state, null, 2)}\n`);
}

/** A holder for this process. */
export const newHolder = (): Holder => ({ ...ownIdentity(), token: randomUUID() });

/** Those whose process still lives, without this one. */
export function otherHolders(dataDir: string, { token }: Holder): readonly Holder[] {
  const { holders = [] } = readState(dataDir);
  return holders.filter((holder) => holder.token !== token && isRunning(holder));
}
