import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startEmbeddedChroma } from '../../src/infra/chroma/embedded-chroma.ts';
import { startEmbeddedPostgres } from '../../src/infra/db/embedded/start-embedded-postgres.ts';
import { quiet } from './quiet.ts';
import { setup } from './scratch-root.ts';

/**
 * What vitest does for a test run, as small as can be, for the test that kills it: makes the run's folders, and starts in
 * one of them both servers and a program that heeds no signal. Prints the folders when all run.
 */
const roots: string[] = [];
const provide = (_name: string, folder: string): void => void roots.push(folder);
// Each project of vitest.config.ts has a folder of its own.
await setup({ provide });
await setup({ provide });
const [root = ''] = roots;
const servers = join(root, 'servers');
await Promise.all([
  startEmbeddedPostgres({ dataDir: join(servers, 'postgres'), name: 'scratch', log: quiet }),
  startEmbeddedChroma({ dataDir: join(servers, 'chroma'), log: quiet }),
]);
const deaf =
  'process.on("SIGINT", () => {}); process.on("SIGTERM", () => {}); console.log("runs"); setInterval(() => {}, 1000)';
const program = spawn(process.execPath, ['-e', deaf], {
  cwd: root,
  detached: true,
  stdio: ['ignore', 'pipe', 'ignore'],
});
program.stdout.once('data', () => process.stdout.write(`${JSON.stringify(roots)}\n`));
