import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { productEnv } from '../../support/product.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

function sentry(...args: readonly string[]): Promise<{ readonly code: unknown; readonly said: string }> {
  const env = productEnv({ dataDir: scratchDir() });
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', 'src/main.ts', ...args],
      { cwd: root, env },
      (error, out, err) => resolve({ code: error?.code ?? 0, said: `${out}${err}` }),
    );
  });
}

test.each([
  [
    ['stop', 'shop-dbx'],
    'Did you mean shop-db? Nothing was changed. To stop everything: sentry stop everything',
  ],
  [
    ['resume', 'shop-dbx'],
    'Did you mean shop-db? Nothing was changed. To resume everything: sentry resume everything',
  ],
  [['stop', 'the sky is falling'], 'I know no target, domain or incident called “the”.'],
  [['stop', 'shop-db', '--for', 'ever'], 'say for 30m, for 2h or for 1d'],
  [['stop', 'shop-db right now'], 'is more than a scope'],
])(
  'sentry %j is a wrong command: it changes nothing, not even opens the record',
  { timeout: 60_000 },
  async (args, says) => {
    expect(await sentry(...args)).toEqual({ code: 2, said: expect.stringContaining(says) });
  },
);
