import type { OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ProcessIdentity } from '../process/process-identity.ts';
import type { Launch } from './spawn-detached.ts';

/** What the supervisor has to know of a child: all that differs between PostgreSQL, Chroma and the playground's programs. */
export interface ChildSpec<Info extends object> {
  /** What it is called in messages. */
  readonly name: string;
  /** Its folder: `server.json` (what is remembered), `server.log` (what it printed). Made when missing. */
  readonly dataDir: string;
  readonly log: Log;
  /** Wanted instead of the remembered one; another one is taken, and said, when it is not free. 0: it needs none from us. */
  readonly port?: number | undefined;
  /** How long it may take to get ready, ms. */
  readonly readyMs: number;
  /** What ends it in order, softest first, and how long each may take, ms. SIGKILL follows. */
  readonly stopSignals: readonly (readonly [NodeJS.Signals, number])[];
  /** The process that works in its folder, whoever started it; told by its command line. */
  readonly find: (dataDir: string) => ProcessIdentity | undefined;
  /** Makes what it needs, before one is adopted or started. */
  readonly prepare: (dataDir: string) => PreparedChild<Info>;
  /** What went wrong, in words for the operator. `output`: what it printed. */
  readonly fault: (output: string, cause?: unknown) => OpsError;
}

/** What is known of a child once what it needs is there. */
export interface PreparedChild<Info extends object> {
  readonly launch: (port: number) => Launch;
  /** Asks once: undefined when it is not ready yet, an error when waiting does not help. */
  readonly ready: (child: Candidate) => Promise<Info | OpsError | undefined>;
  /** Whether the one that runs is not what would be started now, and is replaced. `shared`: somebody else uses it. */
  readonly isOutdated?: (found: ProcessIdentity, shared: boolean) => boolean;
  /** Given where one that runs and does not get ready must not be replaced: the error to throw. */
  readonly unusable?: (found: ProcessIdentity) => OpsError;
  /** Whether one that ended before it was ready may be started again; may clear the way first. */
  readonly retry?: (output: string) => Promise<boolean>;
}

/** A process that may get ready. */
export interface Candidate {
  readonly process: ProcessIdentity;
  readonly port: number;
  /** Whether it ran before this start. */
  readonly adopted: boolean;
  /** What it printed since it was started. */
  readonly output: () => string;
}

/** A child that is ready, and what it said of itself. */
export type RunningChild<Info extends object> = Info & {
  readonly pid: number;
  /** Whether it ran already: left by a killed process, or shared with a living one. */
  readonly adopted: boolean;
  /** Resolves when it is gone for whatever reason. Does not keep our process alive. */
  readonly exited: Promise<void>;
  /** Ends it in order and waits; leaves it running while another living process uses it. Can be repeated. */
  readonly stop: () => Promise<void>;
};
