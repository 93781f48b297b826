import { afterAll, beforeAll, expect, test } from 'vitest';
import { endAbandonedTransactions } from '../../../../src/infra/db/abandoned-transactions.ts';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import type { Row } from '../../../support/typed.ts';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
});
afterAll(() => scratch.drop());

const limit = async (): Promise<unknown> => {
  const { sql, close } = openDatabase(scratch.url, { max: 1 });
  const [row] = await sql<Row>`SELECT current_setting('idle_in_transaction_session_timeout') AS is`;
  await close();
  return row?.['is'];
};

test('a process that stands still within a transaction keeps the others waiting for its locks no longer than this', async () => {
  expect(await limit()).toBe('0');
  await endAbandonedTransactions(scratch.url, quiet, 500);
  const still = openDatabase(scratch.url, { max: 1 });
  const other = openDatabase(scratch.url, { max: 1 });
  let holds = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    holds = resolve;
  });
  const abandoned = still.sql
    .begin(async (tx) => {
      await tx`SELECT seq FROM audit_head FOR UPDATE`;
      await tx`UPDATE audit_head SET seq = seq + 1`;
      holds();
      // As a SIGSTOP would have it.
      await new Promise(() => undefined);
    })
    .then(
      () => 'committed',
      (error: { readonly code?: string }) => error.code,
    );
  await held;
  const [row] = await other.sql.begin(async (tx) => tx<Row>`SELECT seq FROM audit_head FOR UPDATE`);
  expect(Number(row?.['seq'])).toBe(0);
  expect(await abandoned).toMatch(/^(?:25P03|CONNECTION_|ECONN)/);
  // And goes on with a new connection.
  expect(await still.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  await Promise.all([still.close(), other.close()]);
});

test('a limit that somebody else has set stays', async () => {
  await endAbandonedTransactions(scratch.url, quiet);
  expect(await limit()).toBe('500ms');
});
