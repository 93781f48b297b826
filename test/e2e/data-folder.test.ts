import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partOf } from '../support/chaos.ts';
import { processesUnder } from '../support/processes-under.ts';
import { type Product, sentry, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

describe('one data folder', { timeout: 240_000 }, () => {
  const dataDir = join(scratchDir(), '.sentry');
  const cwd = dirname(dataDir);
  let product: Product;

  beforeAll(async () => {
    product = await startProduct({ dataDir, cwd, byNpm: true, timeoutMs: 120_000 });
  });
  afterAll(async () => {
    product?.signal('SIGKILL');
  });

  it('runs one Sentry: the second start says where the first one is, and touches nothing [B9]', async () => {
    const parts = () =>
      (['record', 'chroma', 'slack', 'faults', 'shop-db'] as const).map((part) => partOf(dataDir, part)?.pid);
    const before = parts();
    expect(before).not.toContain(undefined);
    const second = await sentry({ dataDir, cwd }, ['start']);
    expect(second.code).toBe(5);
    expect(second.stdout).toBe('');
    expect(second.stderr).toContain(`Sentry is already running at ${product.pageUrl} (pid `);
    expect(parts()).toEqual(before);
    expect((await fetch(`${product.httpUrl}/ready`)).status).toBe(200);
  });

  it('that is removed is said, everything stops, nothing is left and nothing is made anew [B10]', async () => {
    rmSync(dataDir, { recursive: true, force: true });
    expect(await product.exited).toBe(5);
    expect(product.output()).toContain(`${dataDir} was removed or replaced while Sentry ran`);
    expect(product.output()).not.toContain('Starting it again');
    await waitFor('no process', async () => processesUnder(dataDir).length === 0, {
      seen: () => processesUnder(dataDir),
    });
    expect(existsSync(dataDir)).toBe(false);
  });
});
