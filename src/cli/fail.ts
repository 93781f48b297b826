import { CommanderError } from 'commander';
import { messageOf, OpsError } from '../core/errors.ts';

/**
 * Exit codes for scripts: 0 done, 1 failed, 2 the command was wrong, 3 not found, 4 the configuration is wrong, 70 ended by
 * an error that nobody caught (EX_SOFTWARE of sysexits.h). scripts/lib/supervise.mjs goes by them.
 */
export const exitCodes = { failed: 1, usage: 2, notFound: 3, config: 4, crashed: 70 } as const;

/** Says on stderr what went wrong and what to do, and sets the exit code. Never a stack trace for an expected fault. */
export function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    // Help and version end here too, with code 0; commander has printed what there is to say.
    process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
    return;
  }
  if (error instanceof OpsError) {
    process.stderr.write(`sentry: ${error.message}\n${error.hint}\n`);
    process.exitCode =
      error.code === 'CONFIG'
        ? exitCodes.config
        : error.code === 'NOT_FOUND'
          ? exitCodes.notFound
          : error.code === 'USAGE'
            ? exitCodes.usage
            : exitCodes.failed;
    return;
  }
  process.stderr.write(
    `sentry: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}\n`,
  );
  process.exitCode = exitCodes.failed;
}
