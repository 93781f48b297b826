import { join } from 'node:path';
import { Command } from 'commander';
import { firstScreen } from '../app/first-screen.ts';
import { type Running, start } from '../app/start.ts';
import { loadConfig } from '../config/config.ts';
import { messageOf } from '../core/errors.ts';
import { createLog } from '../infra/log/log.ts';
import { endOnUncaughtError } from './last-resort.ts';
import { watchParent } from './parent.ts';

export const startCommand = new Command('start')
  .description('Start Sentry, with whatever embedded parts the configuration leaves to it.')
  .action(async () => {
    const config = loadConfig();
    const begun = Date.now();
    // On a terminal the log would bury the screen: it goes to a file there, and to stderr in production.
    const log = createLog(
      config.logLevel,
      process.stdout.isTTY ? { file: join(config.dataDir, 'sentry.log') } : 'stderr',
    );
    const progress = (line: string): void => void process.stdout.write(`  ${line} …\n`);

    const stopping = new AbortController();
    const asked = new Promise<void>((resolve) =>
      stopping.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    const stop = (): void => {
      // A second Ctrl-C must not cut a clean stop short half-way; it is bounded in time by itself.
      if (!stopping.signal.aborted) process.stdout.write('\n  Stopping …\n');
      stopping.abort();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
    const parent = watchParent(log, stop);
    // `npm start | head` closes the pipe: nobody reads any more, which is no reason to die without stopping what runs.
    process.stdout.on('error', (error) => log.debug({ error: messageOf(error) }, 'stdout is closed'));
    process.on('unhandledRejection', (error) =>
      log.error({ error: messageOf(error) }, 'unhandled rejection'),
    );
    let running: Running | undefined;
    // The embedded servers go on where the parent starts Sentry again at once: it takes them over.
    endOnUncaughtError(log, async () => (parent.isThere ? running?.app.stop() : running?.stop()));

    running = await start(config, log, progress);
    if (!stopping.signal.aborted) process.stdout.write(firstScreen(running, Date.now() - begun));
    parent.tellReady();
    await asked;
    await running.stop();
    process.stdout.write('  Stopped.\n');
    process.exit(0);
  });
