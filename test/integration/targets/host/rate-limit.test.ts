import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { rateRefusal, returnRate, takeRate } from '../../../../src/safety/limits/rate-limit.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';

let scratch: ScratchDatabase;
let database: ReturnType<typeof openDatabase>;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url);
});
afterAll(async () => {
  await database.close();
  await scratch.drop();
});

const limit = { key: 'restart web on m1', what: 'restart of web', times: 1, withinMs: 600_000 };

test('four processes that try at once are let once between them, and whoever starts later is told when', async () => {
  const worker = fileURLToPath(new URL('rate-worker.ts', import.meta.url));
  const runs = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) =>
      promisify(execFile)(process.execPath, ['--import', 'tsx', worker, scratch.url, name, '20']),
    ),
  );
  expect(runs.map(({ stdout }) => Number(stdout)).reduce((sum, each) => sum + each, 0)).toBe(1);
  expect(await rateRefusal(database.sql, limit)).toMatchObject({
    code: 'RATE_LIMITED',
    reason: expect.stringMatching(
      /^At most 1 restart of web in 10 minutes\. It may be done again in \d+ s, at/,
    ),
  });
});

test('another thing is another matter, and what did not run does not count', async () => {
  const other = { ...limit, key: 'restart db on m1' };
  expect(await database.sql.begin((tx) => takeRate(tx, other, 'act_1'))).toBeUndefined();
  expect(await database.sql.begin((tx) => takeRate(tx, other, 'act_2'))).toMatchObject({ ok: false });
  // The same action again, after a crash before its claim was used, is the same restart.
  expect(await database.sql.begin((tx) => takeRate(tx, other, 'act_1'))).toBeUndefined();
  await database.sql.begin((tx) => returnRate(tx, 'act_1'));
  expect(await database.sql.begin((tx) => takeRate(tx, other, 'act_2'))).toBeUndefined();
});
