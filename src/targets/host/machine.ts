import type { SessionOptions } from '../../tools/ports.ts';
import type { HostService } from './config.ts';
import type { DeclaredOptions, DeclaredRun } from './connect/run-declared.ts';
import type { HostAccess, PortState } from './system.ts';

/** A process as its machine knows it. */
export interface MachineProcess {
  /** Opaque; with the pid it names one process for good: `<boot id>/<ticks>` on Linux. */
  readonly startedAt: string;
  readonly ageSeconds: number | null;
}

/** A file that holds a pid. */
export interface PidFile {
  /** With all links followed, also while the file itself is not there. */
  readonly realPath: string;
  /** Null: it is not there. */
  readonly text: string | null;
  readonly writtenSecondsAgo: number;
}

/** When a restart may begin, and whom it may end. */
export interface RestartTerms {
  readonly deadline: { readonly clock: string | null; readonly withinMs: number };
  /** The main process that must still be the same; null: none is looked for. */
  readonly steady: { readonly main_pid: number; readonly started_at: string } | null;
  /** The command's own time: at its end it is killed on its machine. */
  readonly maxMs: number;
  /** See `DeclaredOptions`. */
  readonly capture: boolean;
}

export interface RestartRun extends DeclaredRun {
  /** Why nobody can say how it ended, though it may have run: the way to the machine broke. */
  readonly lost?: string;
}

/** Where a host's processes and programs are: this machine, or another one over ssh. All the rest of a host is the same. */
export interface Machine {
  readonly access: HostAccess;
  /** What identifies it, whatever it is called. */
  identity(): Promise<string>;
  /** Its clock for deadlines, `<boot id>/<seconds>`; null where it has none that a paused process cannot miss. */
  clock(): Promise<string | null>;
  describe(): Promise<{ readonly os: string; readonly kernel: string; readonly architecture: string }>;
  /** Who runs under a pid now; null when nobody does. */
  process(pid: number, options: SessionOptions): Promise<MachineProcess | null>;
  /** The file of the program that a process runs; null when nobody may look, or it was replaced since. */
  programOf(pid: number, options: SessionOptions): Promise<string | null>;
  pidFile(path: string, options: SessionOptions): Promise<PidFile>;
  /** The absolute path of systemctl. Throws OpsError HOST_NO_SYSTEMD. */
  systemctl(): string;
  hasProgram(path: string): Promise<boolean>;
  /** Runs a program by its absolute path and exactly these words. Throws OpsError HOST_COMMAND when it cannot be started. */
  run(argv: readonly string[], options: DeclaredOptions): Promise<DeclaredRun>;
  /** Runs it once, behind the last check of its terms, which the machine makes itself. Throws only when nothing ran. */
  restart(argv: readonly string[], terms: RestartTerms, signal: AbortSignal): Promise<RestartRun>;
  /** Whether a port of it takes connections. */
  reach(port: number, options: SessionOptions): Promise<PortState>;
  /** Whether Sentry's account may read a folder, and write to it where it is patched. */
  mayUse(folder: string, right: 'read' | 'write'): Promise<boolean>;
  /** What it lacks for the tools of hosts, and for these services, a line each. Throws OpsError when it cannot be reached. */
  lacks(services: readonly HostService[]): Promise<readonly string[]>;
  close(): Promise<void>;
}
