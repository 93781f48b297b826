import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { killLeftovers, processesUnder } from '../../support/processes-under.ts';
import { waitFor } from '../../support/wait-for.ts';

const script = fileURLToPath(new URL('../../support/killed-run.ts', import.meta.url));

let roots: readonly string[] = [];
afterEach(() => {
  for (const root of roots) killLeftovers(root);
});

const running = () => roots.flatMap((root) => processesUnder(root));

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'a test run that is ended by %s leaves no process and no folder behind',
  async (signal) => {
    const run = spawn(process.execPath, ['--import', 'tsx', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = await createInterface({ input: run.stdout })[Symbol.asyncIterator]().next();
    roots = JSON.parse(String(line.value)) as readonly string[];
    const commands = running().map(({ command }) => command);
    for (const part of [/bin\/postgres -D /, /cli\.mjs run /, /SIGTERM/])
      expect(commands).toContainEqual(expect.stringMatching(part));
    run.kill(signal);
    const left = () => [...running(), ...roots.filter((root) => existsSync(root))];
    await waitFor('nothing of the run', async () => left().length === 0, { timeoutMs: 60_000, seen: left });
  },
  120_000,
);
