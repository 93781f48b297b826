import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkChroma, chromaLine, startChroma } from '../../../src/app/chroma.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const settings = (change: { dataDir?: string; chromaHost?: string | null; enabled?: boolean }) => ({
  dataDir: change.dataDir ?? scratchDir(),
  chromaHost: change.chromaHost ?? null,
  memory: { enabled: change.enabled ?? true },
});

describe('while memory is off', () => {
  // Nothing listens there: asking would fail.
  test.each([null, 'http://127.0.0.1:9'])(
    'no vector database is started or asked (CHROMA_HOST=%s)',
    async (chromaHost) => {
      const off = settings({ chromaHost, enabled: false });
      const { host, stop } = await startChroma(off, quiet);
      await stop();
      expect(host).toBeNull();
      expect(await checkChroma(off, quiet)).toBe('not used (MEMORY_ENABLED=false)');
      expect(await chromaLine(off, host)).toBe('not used (MEMORY_ENABLED=false)');
      expect(readdirSync(off.dataDir)).toEqual([]);
    },
  );
});

test('one of one’s own that is away is used as soon as it answers, and said to be away', async () => {
  const own = settings({ chromaHost: 'http://127.0.0.1:9' });
  const { host } = await startChroma(own, quiet);
  expect(await chromaLine(own, host)).toMatch(/^yours \(http:\/\/127\.0\.0\.1:9\) does not answer/);
  await expect(checkChroma(own, quiet)).rejects.toThrow();
  expect(readdirSync(own.dataDir)).toEqual([]);
});

test('one that cannot be started is said, and Sentry starts without', async () => {
  const broken = settings({ dataDir: '/dev/null/sentry' });
  const { host } = await startChroma(broken, quiet);
  expect(host).toBeNull();
  expect(await chromaLine(broken, host)).toContain('cannot be started');
});
