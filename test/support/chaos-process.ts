import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const chaosWorker = fileURLToPath(new URL('./chaos-worker.ts', import.meta.url));

/** One `chaos-worker.ts` of this test's. */
export interface Worker {
  readonly pid: number;
  readonly ended: Promise<void>;
  isRunning(): boolean;
  pause(): void;
  goOn(): void;
  /** kill -9, also while paused. */
  kill(): Promise<void>;
  output(): string;
}

/** Starts one, or another script that takes options and says `{"ready":true}` as it does, and waits until it works. */
export async function startWorker(
  options: Readonly<Record<string, string | true>>,
  script = chaosWorker,
): Promise<Worker> {
  const args = Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, value],
  );
  const child = spawn(process.execPath, ['--import', 'tsx', script, ...args], {
    // The channel ends with this process: a worker never outlives its test.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let said = '';
  const note = (text: string): void => {
    said += `${text}\n`;
  };
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', note);
  const ready = new Promise<void>((resolve) =>
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      note(line);
      if (line.includes('"ready":true')) resolve();
    }),
  );
  await Promise.race([
    ready,
    ended.then(() => Promise.reject(new Error(`a worker ended before it worked:\n${said}`))),
  ]);
  return worker(child, ended, () => said);
}

function worker(child: ChildProcess, ended: Promise<void>, output: () => string): Worker {
  return {
    pid: child.pid ?? -1,
    ended,
    output,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    pause: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
