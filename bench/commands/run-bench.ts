import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';

/** Runs the bench program; its exit code is ours. */
export async function runBench(args: readonly string[]): Promise<void> {
  const program = join(packageRoot(), 'dist', 'bench', 'main.js');
  const child = spawn(process.execPath, [program, ...args], { stdio: 'inherit' });
  // Ctrl-C reaches the whole group; the child ends its servers.
  process.on('SIGINT', () => undefined);
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}
