import { OpsError } from '../../../../core/errors.ts';
import type { SessionOptions } from '../../../../tools/ports.ts';
import type { RemoteRun, SshConnection } from './connection.ts';

/** Nothing of the account's own: no PATH, no start-up files, no proxies. */
const ENVIRONMENT = [
  'LANG=C.UTF-8',
  'LC_ALL=C.UTF-8',
  'HOME=/nonexistent',
  'PATH=/usr/bin:/bin:/usr/sbin:/sbin',
  'TERM=dumb',
  'SYSTEMD_COLORS=0',
  'SYSTEMD_PAGER=',
];

export interface ShellOptions extends SessionOptions {
  readonly maxBytes?: number;
  readonly input?: string;
}

/** The commands of one host, each in a clean environment and ended there when its time is up, also if the line is cut. */
export interface RemoteShell {
  run(argv: readonly string[], options: ShellOptions): Promise<RemoteRun>;
  /** One of `scripts.ts`, with its arguments. */
  script(text: string, words: readonly string[], options: ShellOptions): Promise<RemoteRun>;
}

const MAX_BYTES = 256 * 1024;

export function createShell(connection: SshConnection): RemoteShell {
  const run: RemoteShell['run'] = (argv, { timeoutMs, signal, maxBytes = MAX_BYTES, input }) => {
    const seconds = String(Math.ceil(timeoutMs / 100) / 10);
    return connection.run(['exec', 'env', '-i', ...ENVIRONMENT, 'timeout', '-s', 'KILL', seconds, ...argv], {
      timeoutMs,
      signal,
      maxBytes,
      ...(input === undefined ? {} : { input }),
    });
  };
  return { run, script: (text, words, options) => run(['sh', '-c', text, 'sh', ...words], options) };
}

/** For reads: an answer that did not come to its end is none. Throws OpsError HOST_AWAY or STOPPED, to be tried again. */
export function whole(run: RemoteRun): RemoteRun {
  if (run.isLost)
    throw new OpsError('HOST_AWAY', 'The connection to the host broke during the read.', {
      hint: 'Read it again.',
      retryable: true,
    });
  if (run.killed === 'aborted' || run.killed === 'timeout' || (run.code === null && run.killed === null))
    throw new OpsError('STOPPED', 'The read on the host did not end in time.', {
      hint: 'Read it again, or less of it.',
      retryable: true,
    });
  return run;
}
