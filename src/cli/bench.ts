import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Argument, Command } from 'commander';
import { packageRoot } from '../config.ts';

export const benchCommand = new Command('bench')
  .description(
    'Measure, on databases of its own that are removed afterwards; bench/README.md says what and how.',
  )
  .addArgument(new Argument('<what>', 'what to measure').choices(['startup', 'ingest', 'overhead']))
  .option('--json', 'one JSON document on stdout', false)
  .action(async (what: string, { json }: { readonly json: boolean }) => {
    const program = join(packageRoot(), 'dist', 'bench', 'main.js');
    const child = spawn(process.execPath, [program, what, ...(json ? ['--json'] : [])], { stdio: 'inherit' });
    // Ctrl-C reaches the whole group; the child ends its servers, and its exit code is ours.
    process.on('SIGINT', () => undefined);
    const [code] = (await once(child, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
  });
