import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { watchFolder } from '../../../src/cli/watch-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const dir = mkdtempSync(join(tmpdir(), 'watch-'));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('several writes are one change, a failure does not end it, files in new folders count', async () => {
  const ending = new AbortController();
  let done = 0;
  const watching = watchFolder(
    dir,
    async () => {
      done += 1;
      if (done === 1) throw new Error('a file with a problem');
    },
    ending,
  );
  for (let i = 0; i < 5; i += 1) writeFileSync(join(dir, 'a.md'), `text ${i}`);
  await waitFor('the first change', async () => done === 1);
  mkdirSync(join(dir, 'postgres'));
  writeFileSync(join(dir, 'postgres', 'b.md'), 'text');
  await waitFor('the second', async () => done === 2);
  ending.abort();
  await watching;
  expect(done).toBe(2);
});
