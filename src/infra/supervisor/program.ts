import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { findProcesses } from '../process/find-processes.ts';
import { commandLine, type ProcessIdentity } from '../process/process-identity.ts';
import type { ChildSpec } from './child-spec.ts';

export interface ProgramOptions<Info extends object> {
  readonly name: string;
  readonly dataDir: string;
  readonly log: Log;
  /** A script of ours for Node. */
  readonly script: string;
  /** The folder in `dataDir` that it is given as `--data`. */
  readonly data: string;
  /** Its other arguments. */
  readonly args: readonly string[];
  /** Parses the line it prints when it is ready; throws when that is not what was expected. */
  readonly parse: (ready: unknown) => Info;
  /** Whether it answers. */
  readonly isHealthy: (info: Info) => Promise<boolean>;
  readonly readyMs: number;
}

/** A program of the playground. It says that it is ready by one line of JSON on stdout: `{"ready":true, …}`. */
export function program<Info extends object>(options: ProgramOptions<Info>): ChildSpec<Info> {
  const { name, log, dataDir, readyMs } = options;
  return {
    name,
    log,
    dataDir,
    readyMs,
    port: 0,
    stopSignals: [['SIGTERM', 10_000]],
    find: findProgram,
    prepare: (folder) => {
      const command = [
        process.execPath,
        options.script,
        '--data',
        join(folder, options.data),
        ...options.args,
      ] as const;
      return {
        launch: () => ({ command }),
        isOutdated: ({ pid }) => commandLine(pid) !== command.join(' '),
        ready: async ({ output }) => {
          const line = output()
            .split('\n')
            .slice(0, -1)
            .find((said) => said.startsWith('{"ready":'));
          if (line === undefined) return undefined;
          const info = options.parse(JSON.parse(line));
          return (await options.isHealthy(info)) ? info : undefined;
        },
      };
    },
    fault: (output, cause) => programFault(name, output, cause),
  };
}

/** The program that works in this folder, whoever started it. */
export function findProgram(dataDir: string): ProcessIdentity | undefined {
  if (!existsSync(dataDir)) return undefined;
  const folder = realpathSync(dataDir);
  return findProcesses((command) => command.includes(`.js --data ${folder}/`))[0];
}

function programFault(name: string, output: string, cause: unknown): OpsError {
  const said = output.trim().split('\n').slice(-5).join(' | ').slice(-800);
  return new OpsError(
    'CHILD_FAILED',
    `${name} did not get ready: ${said || (cause === undefined ? 'it said nothing' : messageOf(cause))}`,
    {
      retryable: true,
      hint: 'Read server.log in its data folder; a port that is taken is a frequent cause.',
      cause,
    },
  );
}
