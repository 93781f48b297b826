import type { ActionOutcome } from '../../core/action.ts';
import type { WatchedLog } from '../../core/watched-log.ts';
import type { CommandPolicy } from '../../safety/commands/policy.ts';
import type { runCommand } from '../../safety/commands/run-command.ts';
import type { applyPlan } from '../../safety/diffs/apply-plan.ts';
import type { planPatch } from '../../safety/diffs/plan-patch.ts';
import type { undoPatch } from '../../safety/diffs/undo-patch.ts';
import type { searchInside } from '../../safety/grep/search-inside.ts';
import type { checkPath } from '../../safety/paths/check-path.ts';
import type { readInside } from '../../safety/paths/read-inside.ts';
import type { walkInside } from '../../safety/paths/walk-inside.ts';
import type { SessionOptions } from '../../tools/ports.ts';
import type { HostRoot } from './config.ts';
import type { Machine } from './machine.ts';

/**
 * The guarded ways to a host's files and diagnostics. For this machine they are those of `src/safety`; one that is reached
 * over ssh brings its own, with the same rules.
 */
export interface HostAccess {
  readonly check: typeof checkPath;
  readonly read: typeof readInside;
  readonly walk: typeof walkInside;
  readonly search: typeof searchInside;
  readonly run: typeof runCommand;
  readonly plan: typeof planPatch;
  readonly apply: typeof applyPlan;
  readonly undo: typeof undoPatch;
  /** Bytes of the file system a path is on. */
  readonly space: (path: string) => Promise<{ readonly size: number; readonly free: number }>;
}

/** A declared service as it is now. */
export interface ServiceState {
  readonly name: string;
  /** `restarting`: its supervisor is about to start it again, or it started less than 10 s ago. */
  readonly state: 'running' | 'restarting' | 'stopped' | 'failed';
  readonly mainPid: number | null;
  /** Opaque; with the pid it names one process for good. */
  readonly startedAt: string | null;
  readonly ageSeconds: number | null;
  /** How often its supervisor has started it again; null where nobody counts. */
  readonly restarts: number | null;
  /** In the words of whoever keeps it. */
  readonly says: string;
  /** What a restart runs: the unit, or the declared command. */
  readonly declared: string;
  /** What is the service's own on its machine, whatever it is called: its unit, or its pid file and its command. */
  readonly keys: readonly string[];
}

/** Whether a port takes connections. */
export interface PortState {
  readonly port: number;
  readonly reachable: boolean;
  /** For people, with why not. */
  readonly says: string;
}

/** What must not have moved when a restart runs. `steady` null: it was down, or starting again and again. */
export type ServiceGuard = {
  /** Which machine, whatever the target is called. */
  readonly machine: string;
  readonly service: string;
  readonly declared: string;
  readonly steady: { readonly main_pid: number; readonly started_at: string } | null;
};

/** One host that may be investigated. */
export interface Host {
  readonly machine: Machine;
  readonly roots: readonly HostRoot[];
  /** Names of the declared services. */
  readonly services: readonly string[];
  readonly commands: CommandPolicy;
  /** The declared logs. */
  readonly logs: readonly WatchedLog[];
  readonly access: HostAccess;
  /** Throws OpsError HOST_NO_SERVICE for a name that is not declared. */
  service(name: string, options: SessionOptions): Promise<ServiceState>;
  /** Throws OpsError HOST_NO_PORT where none is declared for it, HOST_NO_SERVICE for a name that is not declared. */
  reach(name: string, options: SessionOptions): Promise<PortState>;
  /** Runs the declared restart once, if the guard still holds and the deadline has not passed. */
  restart(
    guard: ServiceGuard,
    deadline: { readonly clock: string | null; readonly withinMs: number },
    options: SessionOptions,
  ): Promise<ActionOutcome>;
}
