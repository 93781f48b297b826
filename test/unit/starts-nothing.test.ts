import * as childProcess from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { scratchDatabase } from '../support/postgres.ts';
import { sentry } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';

const refusal = /a unit test may not start a/;
const starters = Object.entries(childProcess).filter(([name]) => /^(spawn|exec|fork)/.test(name));

describe('below test/unit', () => {
  test.each(starters)('%s starts no process', (_, start) => {
    expect(() => (start as (file: string) => unknown)(process.execPath)).toThrow(refusal);
  });

  test('no socket is listened on', () => {
    expect(() => createServer().listen(0)).toThrow(refusal);
    expect(() => createHttpServer().listen(0)).toThrow(refusal);
  });

  test('what test/support would start is refused as well', async () => {
    await expect(scratchDatabase()).rejects.toThrow(refusal);
    await expect(sentry({ dataDir: scratchDir() }, ['--help'])).rejects.toThrow(refusal);
  });
});
