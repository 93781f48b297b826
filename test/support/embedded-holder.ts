import { parseArgs } from 'node:util';
import { messageOf, OpsError } from '../../src/core/errors.ts';
import type { Log } from '../../src/core/log.ts';

/**
 * A process that uses an embedded server, for tests that kill it, run it as another user or start two at once. Prints
 * one line of JSON when it holds the server, or `{error, hint}`; SIGTERM makes it stop the server and end.
 */
const { values } = parseArgs({
  options: { kind: { type: 'string' }, dir: { type: 'string' }, name: { type: 'string', default: 'held' } },
});
const stderr =
  (level: string) =>
  (fields: object, message: string): void =>
    void process.stderr.write(`${level} ${message} ${JSON.stringify(fields)}\n`);
const log: Log = {
  debug: stderr('debug'),
  info: stderr('info'),
  warn: stderr('warn'),
  error: stderr('error'),
};

try {
  const held = await hold(values.dir ?? '');
  const { pid, port, adopted } = held;
  const alive = setInterval(() => undefined, 60_000);
  process.once('SIGTERM', () => {
    clearInterval(alive);
    void held.stop();
  });
  process.stdout.write(
    `${JSON.stringify({ pid, port, adopted, url: 'url' in held ? held.url : held.host })}\n`,
  );
} catch (error) {
  const fault =
    error instanceof OpsError ? { error: error.code, hint: error.hint } : { error: 'OTHER', hint: '' };
  process.stdout.write(`${JSON.stringify({ ...fault, message: messageOf(error) })}\n`);
  process.exitCode = 1;
}

/** Imported when wanted: a copy of the checkout for another user holds only one of them. */
async function hold(dataDir: string) {
  if (values.kind === 'chroma') {
    const { startEmbeddedChroma } = await import('../../src/infra/chroma/embedded-chroma.ts');
    return startEmbeddedChroma({ dataDir, log });
  }
  const { startEmbeddedPostgres } = await import('../../src/infra/db/embedded/start-embedded-postgres.ts');
  return startEmbeddedPostgres({ dataDir, name: values.name, log });
}
