import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LocalSlackClient } from './local-slack.ts';
import { layDatabase } from './made-databases.ts';
import { patience } from './patience.ts';

export const program = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

/** The compiled product as a process of its own. */
export interface Product {
  /** Of what was started: the bot itself, or npm. */
  readonly pid: number;
  readonly pageUrl: string | null;
  readonly httpUrl: string;
  /** From spawning to "Sentry is ready", ms. */
  readonly readyMs: number;
  /** All it has printed. */
  output(): string;
  /** Ctrl-C; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** kill -9 of the bot alone: what it started lives on. */
  kill(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  readonly exited: Promise<number | null>;
}

export interface ProductOptions {
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Where it is started; the data folder when not given. */
  readonly cwd?: string;
  /** To get ready, on a quiet machine; 60 s when not given. */
  readonly timeoutMs?: number;
  /** Started as a user does it, by `npm start` in this checkout, instead of directly. */
  readonly byNpm?: boolean;
}

/** Environment of a product under test: nothing of the developer's own configuration, free ports. */
export function productEnv(options: ProductOptions): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '/',
    SENTRY_DATA_DIR: options.dataDir,
    SENTRY_HTTP_PORT: '0',
    SENTRY_PLAYGROUND_PORT: '0',
    ...options.env,
  };
}

/** Starts it and waits until it says that it is ready. */
export async function startProduct(options: ProductOptions): Promise<Product> {
  if (!options.byNpm && process.env['VITEST']) await layDatabases(options);
  const begun = performance.now();
  const child = options.byNpm ? npmStart(options) : directly(options);
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await ready(child, () => said, (options.timeoutMs ?? 60_000) * patience);
  const readyMs = performance.now() - begun;
  const find = (pattern: RegExp): string | null => pattern.exec(said)?.[1] ?? null;
  return {
    pid: child.pid ?? -1,
    pageUrl: find(/local workspace at (\S+)/),
    httpUrl: find(/Webhook\s+(\S+)\/webhooks/) ?? '',
    readyMs,
    output: () => said,
    exited,
    async stop() {
      child.kill('SIGCONT');
      child.kill('SIGINT');
      return exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    signal: (name) => void child.kill(name),
  };
}

/** What the first start in a folder would make; by npm it does. With a database of one's own nobody else may enter the folder. */
async function layDatabases({ dataDir, env }: ProductOptions): Promise<void> {
  if (env?.['DATABASE_URL']) return;
  const folders = { record: join(dataDir, 'postgres'), shop: join(dataDir, 'faults', 'data') };
  if (!existsSync(folders.record)) await layDatabase('record', folders.record);
  if (!env?.['SENTRY_CONFIG'] && !existsSync(folders.shop)) await layDatabase('shop', folders.shop);
}

function directly(options: ProductOptions): ChildProcess {
  return spawn(process.execPath, [program, 'start'], {
    env: productEnv(options),
    cwd: options.cwd ?? options.dataDir,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function npmStart(options: ProductOptions): ChildProcess {
  return spawn('npm', ['start'], {
    env: { ...productEnv(options), npm_config_update_notifier: 'false' },
    cwd: repository,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function ready(child: ChildProcess, said: () => string, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!/Sentry is ready/.test(said())) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the product ended before it was ready:\n${said()}`);
    if (Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the product was not ready in ${timeoutMs} ms:\n${said()}`);
    }
    await new Promise((done) => setTimeout(done, 10));
  }
}

export function slackOf(product: Product): LocalSlackClient {
  if (!product.pageUrl) throw new Error('this product has no local workspace');
  return new LocalSlackClient(product.pageUrl);
}

/** Runs one `sentry` command against the same data. */
export async function sentry(
  options: ProductOptions,
  args: readonly string[],
  input = '',
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, [program, ...args], {
    env: productEnv(options),
    cwd: options.cwd ?? options.dataDir,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

/** The repository, for what tests read from it. */
export const repository = join(fileURLToPath(new URL('.', import.meta.url)), '..', '..');
