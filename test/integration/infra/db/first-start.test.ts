import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { startTogether } from '../../../support/start-together.ts';

const PROCESSES = 8;
const ROUNDS = 3;

const opener = fileURLToPath(new URL('../../../support/store-opener.ts', import.meta.url));
let databases: readonly ScratchDatabase[] = [];
afterAll(() => Promise.all(databases.map((database) => database.drop())));

test(`${PROCESSES} processes that start at once on an empty database all start, ${ROUNDS} times [C2]`, {
  timeout: 400_000,
}, async () => {
  databases = await Promise.all(Array.from({ length: ROUNDS }, () => scratchDatabase()));
  const urls = databases.map(({ url }) => url);
  const spawned = () =>
    Promise.all(
      Array.from({ length: PROCESSES }, () =>
        promisify(execFile)(process.execPath, ['--import', 'tsx', opener, ...urls]),
      ),
    );
  const start = urls.reduceRight<typeof spawned>(
    (next, url) => () => startTogether(url, PROCESSES, next),
    spawned,
  );
  const said = (await start()).flatMap(({ stdout }) => stdout.trim().split('\n'));
  expect(said).toEqual(Array(PROCESSES * ROUNDS).fill('opened'));
});
