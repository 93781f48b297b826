import { randomUUID } from 'node:crypto';
import { isRunning, type ProcessIdentity, processIdentity } from './process-identity.ts';

/** One user of a shared child process: a handle in a process. The child is stopped when the last living one lets go. */
export interface Holder extends ProcessIdentity {
  readonly token: string;
}

/** A holder for this process. */
export function newHolder(): Holder {
  const self = processIdentity(process.pid);
  if (self === undefined) throw new Error('cannot read the identity of the own process');
  return { ...self, token: randomUUID() };
}

/** The holders whose process still lives, without the one with `token`. */
export function otherHolders(holders: readonly Holder[], token: string): readonly Holder[] {
  return holders.filter((holder) => holder.token !== token && isRunning(holder));
}
