import { join } from 'node:path';
import { Command } from 'commander';
import { firstScreen } from '../app/first-screen.ts';
import { type Running, start } from '../app/start.ts';
import { loadConfig } from '../config/config.ts';
import { messageOf } from '../core/errors.ts';
import { ageLog } from '../infra/log/age-log.ts';
import { createLog } from '../infra/log/log.ts';
import { makeFolder } from '../infra/process/make-folder.ts';
import { exitCodes, fail } from './fail.ts';
import { endOnUncaughtError } from './last-resort.ts';
import { watchParent } from './parent.ts';

/** What operators are told to give it (docs/operations.md), less what a process needs to end. */
const STOP_WITHIN_MS = 28_000;

export const startCommand = new Command('start')
  .description('Start Sentry, with whatever embedded parts the configuration leaves to it.')
  .action(async () => {
    const config = loadConfig();
    for (const note of config.notes) process.stderr.write(`  ! ${note}\n`);
    const begun = Date.now();
    // Before the log is opened in it.
    makeFolder(config.dataDir);
    // On a terminal the log would bury the screen: it goes to a file there, and to stderr in production.
    const file = join(config.dataDir, 'sentry.log');
    if (process.stdout.isTTY && config.retentionDays !== null) ageLog(file, config.retentionDays);
    const log = createLog(config.logLevel, process.stdout.isTTY ? { file } : 'stderr');
    const progress = (line: string): void => void process.stdout.write(`  ${line} …\n`);

    const stopping = new AbortController();
    const asked = new Promise<void>((resolve) =>
      stopping.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    const stop = (): void => {
      // A second Ctrl-C must not cut a clean stop short half-way; it is bounded in time by itself.
      if (stopping.signal.aborted) return;
      process.stdout.write('\n  Stopping …\n');
      stopping.abort();
      parent.tellAway();
      setTimeout(() => {
        log.error(
          { withinMs: STOP_WITHIN_MS },
          'a part did not stop in time: Sentry ends; the next start goes on',
        );
        process.exit(0);
      }, STOP_WITHIN_MS).unref();
    };
    const parent = watchParent(log, () => stop());
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
    // `npm start | head` closes the pipe: nobody reads any more, which is no reason to die without stopping what runs.
    process.stdout.on('error', (error) => log.debug({ error: messageOf(error) }, 'stdout is closed'));
    process.on('unhandledRejection', (error) =>
      log.error({ error: messageOf(error) }, 'unhandled rejection'),
    );
    let running: Running | undefined;
    // The embedded servers go on where the parent starts Sentry again at once: it takes them over.
    endOnUncaughtError(log, async () => {
      parent.tellAway();
      return parent.isThere ? running?.app.stop() : running?.stop();
    });

    let exitCode = 0;
    const gone = (): void => {
      exitCode = exitCodes.folder;
      log.error({ folder: config.dataDir }, 'the data folder was removed: Sentry ends');
      process.stderr.write(
        `\n  ${config.dataDir} was removed or replaced while Sentry ran, and its data with it. Stopping everything; start Sentry again to begin anew.\n`,
      );
      stop();
    };
    try {
      running = await start(config, log, progress, gone, parent);
    } catch (error) {
      fail(error);
      // What had started is stopped. A part that was being made may hold the process open, and nobody would start it again.
      process.exit();
    }
    if (!stopping.signal.aborted) process.stdout.write(firstScreen(running, Date.now() - begun));
    parent.tellReady();
    await asked;
    await running.stop();
    process.stdout.write('  Stopped.\n');
    process.exit(exitCode);
  });
