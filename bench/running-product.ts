import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../src/config/config.ts';
import { packageRoot } from '../src/config/package-root.ts';

const program = join(packageRoot(), 'dist', 'src', 'main.js');

/** The product as `npm start` runs it once it is built, with its data in `dataDir` and nothing of our environment. */
export interface RunningProduct {
  /** From spawning to "Sentry is ready". */
  readonly readyMs: number;
  readonly pageUrl: string;
  readonly httpUrl: string;
  stop(): Promise<void>;
}

export async function runProduct(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningProduct> {
  const begun = performance.now();
  const child = spawn(process.execPath, [program, 'start'], {
    env: { ...environment(dataDir), ...settings },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const screen = await readScreen(child);
  return {
    readyMs: performance.now() - begun,
    pageUrl: /local workspace at (\S+)/.exec(screen)?.[1] ?? '',
    httpUrl: /Webhook\s+(\S+)\/webhooks/.exec(screen)?.[1] ?? '',
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGINT');
      await exited;
    },
  };
}

function readScreen(child: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    // Read to the end: leaving the stream would close the pipe under the product.
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (/Sentry is ready[\s\S]*Ctrl-C/.test(text)) resolve(text);
    });
    child.once('exit', () => reject(new Error(`the product ended before it was ready:\n${text}`)));
  });
}

/** The record of one incident, by the command. */
export async function readIncident(dataDir: string, id: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'incident', id, '--json'], {
    env: environment(dataDir),
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

function environment(dataDir: string): Record<string, string> {
  const { docker, podman } = loadConfig().playgroundEngines;
  // One that somebody has named; else the product looks where it always does.
  const named = ([socket, ...others]: readonly string[]) =>
    socket === undefined || others.length > 0 ? '' : `unix://${socket}`;
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    SENTRY_DATA_DIR: dataDir,
    SENTRY_HTTP_PORT: '0',
    SENTRY_PLAYGROUND_PORT: '0',
    LOG_LEVEL: 'error',
    DOCKER_HOST: named(docker),
    CONTAINER_HOST: named(podman),
  };
}

/** The value at quantile q (0–1), in one decimal. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0) * 10) / 10;
}
