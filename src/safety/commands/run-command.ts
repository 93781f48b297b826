import { type ChildProcess, spawn } from 'node:child_process';
import { OpsError, type Refusal, refuse } from '../../core/errors.ts';
import type { OpenedFile } from '../paths/open-inside.ts';
import type { AllowedCommand } from './decision.ts';
import { findBinary } from './find-binary.ts';
import { closeAll, openLogs } from './open-logs.ts';
import { type CommandPolicy, defaultCommandPolicy } from './policy.ts';

/** How a command ended. A non-zero `exitCode` is an answer, not a fault. */
export interface CommandResult {
  readonly ok: true;
  /** Null when it was killed. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it was killed before its end; null when it ended by itself. */
  readonly killed: 'timeout' | 'output' | 'aborted' | null;
  readonly durationMs: number;
}

export interface RunOptions {
  readonly policy?: CommandPolicy;
  /** Wall time, ms. 35 s when left out: longer than any bound that a grammar lets through. */
  readonly timeoutMs?: number;
  /** Bytes of stdout and stderr together; 256 KiB when left out. The rest is not read: the command is killed. */
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
  /** Where programs are looked for; the system's folders when left out. */
  readonly folders?: readonly string[];
}

/** Nothing of ours: no PATH, no HOME with start-up files, no proxies, no secrets. */
const cleanEnvironment = {
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  HOME: '/nonexistent',
  PATH: '/usr/bin:/bin',
  TERM: 'dumb',
  SYSTEMD_COLORS: '0',
  SYSTEMD_PAGER: '',
};

/** 1 GiB of address space, no bytes written to any file, no core dump, 256 descriptors (journalctl opens each file of the journal), 30 s of processor time. */
const limits = ['--as=1073741824', '--fsize=0', '--core=0', '--nofile=256', '--cpu=30'];

/**
 * Runs what `parseCommand` allowed: the program by absolute path, without a shell, with an empty standard input, a
 * clean environment, in `/`, in its own process group, which is killed as a whole at the end of time or output.
 * Throws `OpsError` COMMAND_START when the system cannot start it.
 */
export async function runCommand(
  command: AllowedCommand,
  options: RunOptions = {},
): Promise<CommandResult | Refusal> {
  if (options.signal?.aborted) return refuse('ABORTED', 'The command was called off before it started.');
  const path = await findBinary(command.binary, options.folders);
  if (path === undefined) return refuse('NOT_INSTALLED', `${command.binary} is not installed on this host.`);
  const limiter = process.platform === 'linux' ? await findBinary('prlimit') : undefined;
  const files = await openLogs(command, options.policy ?? defaultCommandPolicy);
  if ('ok' in files) return files;
  try {
    const words = descriptorWords(command);
    const child = spawn(limiter ?? path, limiter === undefined ? words : [...limits, '--', path, ...words], {
      cwd: '/',
      env: cleanEnvironment,
      detached: true,
      shell: false,
      stdio: ['ignore', 'pipe', 'pipe', ...files.map(({ handle }) => handle.fd)],
    });
    const result = await collect(child, options);
    return { ...result, stdout: withNames(result.stdout, files), stderr: withNames(result.stderr, files) };
  } finally {
    await closeAll(files);
  }
}

/** The arguments with each file replaced by the descriptor it is open as. */
export function descriptorWords(command: AllowedCommand): string[] {
  return command.argv
    .map((word, index) =>
      command.files.includes(index) ? `/dev/fd/${3 + command.files.indexOf(index)}` : word,
    )
    .slice(1);
}

export function withNames(output: string, files: readonly Pick<OpenedFile, 'resolved'>[]): string {
  return files.reduce((text, file, index) => text.replaceAll(`/dev/fd/${3 + index}`, file.resolved), output);
}

function collect(child: ChildProcess, options: RunOptions): Promise<CommandResult> {
  const started = performance.now();
  const max = options.maxOutputBytes ?? 256 * 1024;
  const chunks: { readonly stdout: Buffer[]; readonly stderr: Buffer[] } = { stdout: [], stderr: [] };
  let left = max;
  let killed: CommandResult['killed'] = null;

  const kill = (why: Exclude<CommandResult['killed'], null>): void => {
    killed ??= why;
    killGroup(child);
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  const take = (into: Buffer[]) => (chunk: Buffer) => {
    into.push(chunk.subarray(0, left));
    left -= Math.min(left, chunk.length);
    if (chunk.length > 0 && left === 0) kill('output');
  };
  child.stdout?.on('data', take(chunks.stdout));
  child.stderr?.on('data', take(chunks.stderr));
  const timer = setTimeout(() => kill('timeout'), options.timeoutMs ?? 35_000);
  const aborted = (): void => kill('aborted');
  options.signal?.addEventListener('abort', aborted, { once: true });

  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', aborted);
      reject(
        new OpsError('COMMAND_START', `The system could not start the command: ${cause.message}`, {
          hint: 'Look at the limits of the Sentry process (processes, descriptors, memory).',
          retryable: true,
          cause,
        }),
      );
    });
    // `exit`, then the pipes: a grandchild that keeps a pipe open must not keep us.
    child.once('exit', () => killGroup(child));
    child.once('close', (exitCode) => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', aborted);
      resolve({
        ok: true,
        exitCode: killed === null ? exitCode : null,
        stdout: Buffer.concat(chunks.stdout).toString('utf8'),
        stderr: Buffer.concat(chunks.stderr).toString('utf8'),
        killed,
        durationMs: Math.round(performance.now() - started),
      });
    });
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // Nobody of the group is left.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
