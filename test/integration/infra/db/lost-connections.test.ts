import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Tx } from '../../../../src/core/sql.ts';
import { type Database, openDatabase } from '../../../../src/infra/db/client.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import type { Row } from '../../../support/typed.ts';
import { waitFor } from '../../../support/wait-for.ts';

let scratch: ScratchDatabase;
let admin: Database;
let db: Database;
beforeAll(async () => {
  scratch = await scratchDatabase();
  admin = openDatabase(scratch.url, { max: 1 });
  db = openDatabase(scratch.url, { max: 3, name: 'victim' });
});
afterAll(async () => {
  await Promise.all([db.close(), admin.close()]);
  await scratch.drop();
});

const end = (which: string): PromiseLike<unknown> =>
  admin.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim' AND ${which} IN ('all', pid::text)`;

const gone = (pid: string): Promise<boolean> =>
  waitFor('the session to be gone', async () => {
    const [left] = await admin.sql`SELECT 1 FROM pg_stat_activity WHERE pid::text = ${pid}`;
    return left === undefined;
  });

/** Ended, and seen to be: what the system has for us is read before the event loop turns again. */
async function endAll(): Promise<void> {
  await end('all');
  await waitFor('the sessions to be gone', async () => {
    const left = await admin.sql`SELECT 1 FROM pg_stat_activity WHERE application_name = 'victim'`;
    return left.length === 0;
  });
  await sleep(50);
}

/** `ok`, or the code it failed with; `no answer` after 8 s. */
async function outcome(work: PromiseLike<unknown>): Promise<string> {
  const answered = Promise.resolve(work).then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? 'an error without code',
  );
  return Promise.race([answered, sleep(8_000, 'no answer')]);
}

test('every statement is answered, however and whenever its connection is lost, and the next one works [C1]', async () => {
  const seen: string[] = [];
  for (let loss = 0; loss < 40; loss += 1) {
    seen.push(
      ...(await Promise.all(
        Array.from({ length: 6 }, async (_, n) => {
          const [self] = await db.sql<Row>`SELECT pg_backend_pid() AS pid`.then(
            (rows) => rows,
            () => [],
          );
          await end(String(self?.['pid']));
          await sleep((loss + n) % 4);
          return outcome(db.sql`SELECT ${n}::int AS n`);
        }),
      )),
    );
  }
  expect(seen.filter((one) => one !== 'ok').length).toBeGreaterThan(0);
  expect(new Set(seen)).not.toContain('no answer');
  await sleep(20);
  expect(await outcome(db.sql`SELECT 1`)).toBe('ok');
}, 120_000);

test('arrays and transactions work as the first thing after a loss', async () => {
  await db.sql`SELECT ${db.sql.array(['warm'])}::text[] AS words`;
  await endAll();
  const [row] = await db.sql<Row>`SELECT ${db.sql.array(['a', 'b, "c"'])}::text[] AS words`;
  expect(row?.['words']).toEqual(['a', 'b, "c"']);
  await endAll();
  const sum = await db.sql.begin(
    async (tx) => (await tx<Row>`SELECT ${[1, 2].length}::int + 1 AS sum`)[0]?.['sum'],
  );
  expect(sum).toBe(3);
});

test('statements under way on other connections end in peace when one is lost', async () => {
  const slow = outcome(db.sql`SELECT pg_sleep(1)`);
  const [self] = await db.sql<Row>`SELECT pg_backend_pid() AS pid`;
  await end(String(self?.['pid']));
  expect(await slow).toBe('ok');
});

test('a server that goes away whenever a new connection asks for its types does no harm once they are known [C1]', async () => {
  const proxy = await hangingUp(scratch.url, 'typarray');
  const one = openDatabase(proxy.url, { max: 4, name: 'behind a proxy' });
  const array = async () => one.sql`SELECT ${one.sql.array(['a', 'b'])}::text[] AS given`;
  await one.sql`SELECT 1`;
  expect(await array()).toMatchObject([{ given: ['a', 'b'] }]);
  proxy.forbid();
  // More at once than there are connections yet: each of the new ones would ask as well.
  expect(await Promise.all([1, 2, 3, 4].map(() => outcome(array())))).toEqual(['ok', 'ok', 'ok', 'ok']);
  proxy.lose();
  await waitFor('an answer after the loss', async () => (await outcome(array())) === 'ok');
  expect(await array()).toMatchObject([{ given: ['a', 'b'] }]);
  await one.close();
  await proxy.close();
});

/** Passes everything on to PostgreSQL; after `forbid` it hangs up on whoever says `word`. `lose` ends what is open. */
async function hangingUp(url: string, word: string) {
  const to = new URL(url);
  const open = new Set<Socket>();
  let forbidden = false;
  const server = createServer((client) => {
    const behind = connect(Number(to.port || 5432), to.hostname);
    for (const each of [client, behind]) open.add(each.on('error', () => undefined));
    client.on('data', (data) => {
      if (forbidden && data.includes(word)) client.destroy();
      else behind.write(data);
    });
    behind.on('data', (data) => client.write(data));
    client.on('close', () => behind.destroy());
    behind.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = new URL(url);
  at.host = `127.0.0.1:${String((server.address() as { readonly port: number }).port)}`;
  const endAllOpen = (): void => {
    for (const each of open) each.destroy();
  };
  return {
    url: at.href,
    forbid() {
      forbidden = true;
    },
    lose: endAllOpen,
    async close() {
      endAllOpen();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a transaction whose connection is lost rejects, and ends nothing but itself:', () => {
  const endSoon = (pid: string): void => void setTimeout(() => void end(pid).then(() => undefined), 20);

  const moments: Readonly<Record<string, (tx: Tx, pid: string) => Promise<unknown>>> = {
    'while a statement runs': async (tx, pid) => {
      endSoon(pid);
      await tx`SELECT pg_sleep(30)`;
    },
    'while several run at once': async (tx, pid) => {
      endSoon(pid);
      await Promise.all([tx`SELECT pg_sleep(30)`, tx`SELECT 1`, tx`SELECT ${2}::int`]);
    },
    'between two statements': async (tx, pid) => {
      await end(pid);
      await gone(pid);
      await tx`SELECT ${'x'.repeat(5_000)}::text`;
    },
    'while the process has no time to look': async (tx, pid) => {
      await end(pid);
      const until = performance.now() + 200;
      while (performance.now() < until);
      await tx`SELECT 1`;
    },
    'after its last statement, before it commits': async (_tx, pid) => {
      await end(pid);
      await gone(pid);
    },
    'under a statement whose failure is caught': async (tx, pid) => {
      endSoon(pid);
      await outcome(tx`SELECT pg_sleep(30)`);
      await tx`SELECT 1`;
    },
  };

  test.each(Object.entries(moments))('%s', async (_moment, use) => {
    const thrown: string[] = [];
    const note = (error: Error): void => void thrown.push(error.message);
    process.on('uncaughtException', note);
    onTestFinished(() => void process.off('uncaughtException', note));
    const begun = Array.from({ length: 3 }, () =>
      outcome(
        db.sql.begin(async (tx) => {
          const [self] = await tx<Row>`SELECT pg_backend_pid() AS pid`;
          await use(tx, String(self?.['pid']));
        }),
      ),
    );
    for (const ended of await Promise.all(begun))
      expect(ended).toMatch(/^(CONNECTION_CLOSED|ECONNRESET|EPIPE)$/);
    // What the driver says after that is said when the event loop turns again.
    await sleep(20);
    expect(thrown).toEqual([]);
    expect(await outcome(db.sql.begin((tx) => Promise.resolve(tx`SELECT 1`)))).toBe('ok');
  });
});
