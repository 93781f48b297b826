import { spawn } from 'node:child_process';
import { OpsError } from '../../../core/errors.ts';

/** How a program that the configuration declares has ended. */
export interface DeclaredRun {
  /** Null when it was killed at the end of its time. */
  readonly exitCode: number | null;
  /** Empty unless asked for. */
  readonly output: string;
}

export interface DeclaredOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /**
   * Keep what it writes. Not for a program that leaves a daemon behind: the daemon would inherit our pipe and die of
   * it when it writes after we have gone.
   */
  readonly capture: boolean;
}

const MAX_OUTPUT = 64 * 1024;

/** Nothing of ours: no PATH of the user, no proxies, no secrets. */
export const cleanEnvironment = {
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  HOME: '/nonexistent',
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  SYSTEMD_COLORS: '0',
  SYSTEMD_PAGER: '',
};

/**
 * Runs a program by absolute path, without a shell, in a process group of its own, which is killed as a whole when its time
 * is up. Throws OpsError HOST_COMMAND when the system cannot start it: then nothing ran.
 */
export function runDeclared(argv: readonly string[], options: DeclaredOptions): Promise<DeclaredRun> {
  const [program = '', ...words] = argv;
  const child = spawn(program, words, {
    cwd: '/',
    env: cleanEnvironment,
    detached: true,
    shell: false,
    stdio: ['ignore', options.capture ? 'pipe' : 'ignore', options.capture ? 'pipe' : 'ignore'],
  });
  let output = '';
  let killed = false;
  const take = (chunk: Buffer): void => {
    if (output.length < MAX_OUTPUT) output += chunk.toString('utf8').slice(0, MAX_OUTPUT - output.length);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  const kill = (): void => {
    killed = true;
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      // Nobody of the group is left.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const timer = setTimeout(kill, options.timeoutMs);
  options.signal.addEventListener('abort', kill, { once: true });
  const done = (): void => {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', kill);
  };
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      done();
      reject(
        new OpsError('HOST_COMMAND', `${program} could not be started: ${cause.message}`, {
          hint: 'Check the path and its permissions; Sentry runs it under its own account.',
          cause,
        }),
      );
    });
    // With pipes `close` comes once they are read to their end; without, `exit` is the end.
    child.once(options.capture ? 'close' : 'exit', (exitCode) => {
      done();
      resolve({ exitCode: killed ? null : exitCode, output });
    });
  });
}
