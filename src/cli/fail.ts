import { debuglog } from 'node:util';
import { CommanderError } from 'commander';
import { messageOf, OpsError } from '../core/errors.ts';
import { systemFault } from '../core/system-fault.ts';

/**
 * Exit codes for scripts: 0 done, 1 failed, 2 the command was wrong, 3 not found, 4 the configuration is wrong, 5 the
 * data folder is another start's, or was removed, 70 ended by an error that nobody caught (EX_SOFTWARE of sysexits.h). scripts/lib/supervise.mjs goes by them.
 */
export const exitCodes = { failed: 1, usage: 2, notFound: 3, config: 4, folder: 5, crashed: 70 } as const;

const byCode: Readonly<Record<string, number>> = {
  CONFIG: exitCodes.config,
  POLICY: exitCodes.config,
  MAPPING: exitCodes.config,
  FOLDER: exitCodes.config,
  ALREADY_RUNNING: exitCodes.folder,
  NOT_FOUND: exitCodes.notFound,
  USAGE: exitCodes.usage,
};

/** Says on stderr what went wrong and what to do, and sets the exit code. Never a stack trace for an expected fault. */
export function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    // Help and version end here too, with code 0; commander has printed what there is to say.
    process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
    return;
  }
  if (error instanceof OpsError) {
    process.stderr.write(`sentry: ${error.message}\n${error.hint}\n`);
    process.exitCode = byCode[error.code] ?? exitCodes.failed;
    return;
  }
  debug('%o', error);
  const said = ofSystem(error);
  process.stderr.write(
    `sentry: ${said ?? `${messageOf(error)}\nThis was not expected; with NODE_DEBUG=sentry it says where it came from.`}\n`,
  );
  process.exitCode = exitCodes.failed;
}

/** A fault of a file or the network, as the system names it; null: it is none. */
function ofSystem(error: unknown): string | null {
  const { path, address, port } = (error ?? {}) as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
  };
  const why = systemFault(error);
  if (why === null) return null;
  return `${path ?? (address === undefined ? '' : `${address}:${port}`)}: ${why}.\nCorrect the name or the rights, and try again.`;
}

/** The stack helps whoever mends Sentry; it buries the message for everybody else. */
const debug = debuglog('sentry');
