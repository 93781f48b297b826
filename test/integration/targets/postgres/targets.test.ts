import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../../playground/faults/until.ts';
import { createPostgresTargets } from '../../../support/targets.ts';
import { type ShopRig, startShopRig } from './shop-rig.ts';

let rig: ShopRig;
beforeAll(async () => {
  rig = await startShopRig();
});
afterAll(() => rig.stop());

const within = (timeoutMs: number, signal = new AbortController().signal) => ({ timeoutMs, signal });
const sleepers = async (): Promise<number> => {
  const [row] = await rig.shop
    .admin`SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'`;
  return row?.['n'];
};

describe('a session', () => {
  test('ends on the server, too, when it is aborted; the connection is usable at once', async () => {
    const abort = new AbortController();
    const running = rig.targets.read(
      'shop-db',
      (session) => session.query('SELECT pg_sleep(60)'),
      within(30_000, abort.signal),
    );
    await until('it to run', async () => (await sleepers()) === 1);
    abort.abort();
    await expect(running).rejects.toMatchObject({ code: 'POSTGRES_ABORTED', retryable: true });
    expect(await sleepers()).toBe(0);
    for (let n = 0; n < 20; n += 1) {
      const rows = await rig.targets.read(
        'shop-db',
        (session) => session.query('SELECT 1 AS one'),
        within(1_000),
      );
      expect(rows[0]?.['one']).toBe(1);
    }
  });

  test('is stopped by the server at its time limit', async () => {
    const running = rig.targets.read(
      'shop-db',
      (session) => session.query('SELECT pg_sleep(60)'),
      within(300),
    );
    await expect(running).rejects.toMatchObject({ code: 'POSTGRES_57014' });
    expect(await sleepers()).toBe(0);
  });

  test('gives numbers where they are exact, text where not, times with their microseconds; never a BigInt', async () => {
    const [row] = await rig.targets.read(
      'shop-db',
      (session) =>
        session.query(
          `SELECT 9007199254740991::bigint AS safe, 9223372036854775807::bigint AS large, 1.25::numeric AS exact,
          0.12345678901234567890::numeric AS long, '2026-01-02 03:04:05.123456Z'::timestamptz AS time, $1::timestamptz AS given`,
          ['2026-01-02T03:04:05.654321Z'],
        ),
      within(1_000),
    );
    expect(row).toEqual({
      safe: 9_007_199_254_740_991,
      large: '9223372036854775807',
      exact: 1.25,
      long: '0.12345678901234567890',
      time: '2026-01-02 03:04:05.123456+00',
      given: '2026-01-02 03:04:05.654321+00',
    });
  });

  test('works again after the server ended its connection', async () => {
    await rig.shop
      .admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename IN ('sentry_read', 'sentry_act')`;
    await until('both to be back', async () => {
      const rows = await rig.shop
        .admin`SELECT DISTINCT usename FROM pg_stat_activity WHERE usename IN ('sentry_read', 'sentry_act')`;
      return rows.length === 2;
    });
    expect((await rig.read('postgres_activity')).data.total).toBeGreaterThanOrEqual(0);
  });

  test('does not go on over another connection than it began with', async () => {
    const going = rig.targets.act(
      'shop-db',
      async (session) => {
        const [self] = await session.query('SELECT pg_backend_pid() AS pid');
        await rig.shop.admin`SELECT pg_terminate_backend(${Number(self?.['pid'])}::int)`;
        await until(
          'it to be gone',
          async () =>
            (await rig.shop.admin`SELECT 1 FROM pg_stat_activity WHERE pid = ${Number(self?.['pid'])}`)
              .length === 0,
        );
        return session.query('SELECT 1');
      },
      within(5_000),
    );
    await expect(going).rejects.toMatchObject({
      code: expect.stringMatching(/^POSTGRES_(57P01|CONNECTION_CLOSED|ECONNRESET)/),
    });
  });

  test('however the connection was lost, the next session has another at once', async () => {
    for (let loss = 0; loss < 12; loss += 1) {
      await expect(
        rig.targets.act(
          'shop-db',
          async (session) => {
            const [self] = await session.query('SELECT pg_backend_pid() AS pid');
            await rig.shop.admin`SELECT pg_terminate_backend(${Number(self?.['pid'])}::int)`;
            // Told by the server, by the closed socket, or by a reset under the statement.
            await sleep(loss % 4);
            return session.query('SELECT 1');
          },
          within(60_000),
        ),
        // A connection that never answers is only given up after the time limit: POSTGRES_TIMEOUT.
      ).rejects.toMatchObject({ retryable: true, code: expect.not.stringContaining('TIMEOUT') });
    }
  });
});

test('the identity is the one of the cluster and its timeline', async () => {
  const [row] = await rig.shop.admin`SELECT system_identifier::text AS id FROM pg_control_system()`;
  expect(await rig.targets.identity('shop-db')).toEqual({ systemIdentifier: row?.['id'], timelineId: 1 });
});

describe('a target that cannot be used says why and what to do', () => {
  const failing = async (change: (url: URL) => void): Promise<unknown> => {
    const url = new URL(rig.shop.readUrl);
    change(url);
    const targets = createPostgresTargets([
      { name: 'ill', kind: 'postgres', environment: 'test', aliases: [], readUrl: url.href, actUrl: null },
    ]);
    try {
      return await targets
        .read('ill', (session) => session.query('SELECT 1'), within(5_000))
        .then(
          () => 'no error',
          (error: unknown) => error,
        );
    } finally {
      await targets.close();
    }
  };

  test('wrong password', async () => {
    expect(await failing((url) => (url.password = 'wrong'))).toMatchObject({
      code: 'POSTGRES_28P01',
      retryable: false,
      hint: expect.stringContaining('pg_hba.conf'),
    });
  });

  test('nothing listens', async () => {
    expect(await failing((url) => (url.port = '1'))).toMatchObject({
      code: 'POSTGRES_ECONNREFUSED',
      retryable: true,
      hint: expect.stringContaining('Nothing listens'),
    });
  });

  test('no such database', async () => {
    expect(await failing((url) => (url.pathname = '/nowhere'))).toMatchObject({
      code: 'POSTGRES_3D000',
      retryable: false,
    });
  });

  test('no acting credential, no such target', async () => {
    const targets = createPostgresTargets([
      {
        name: 'look-only',
        kind: 'postgres',
        environment: 'test',
        aliases: [],
        readUrl: rig.shop.readUrl,
        actUrl: null,
      },
    ]);
    await expect(targets.act('look-only', async () => 1, within(1_000))).rejects.toMatchObject({
      code: 'POSTGRES_NO_ACTING_ROLE',
    });
    await expect(targets.read('other', async () => 1, within(1_000))).rejects.toMatchObject({
      code: 'NO_SYSTEM',
    });
    await targets.close();
  });

  test('a URL cannot make the reading session a writing one', async () => {
    const url = new URL(rig.shop.actUrl);
    url.searchParams.set('default_transaction_read_only', 'off');
    url.searchParams.set('application_name', 'disguised');
    const targets = createPostgresTargets([
      { name: 'odd', kind: 'postgres', environment: 'test', aliases: [], readUrl: url.href, actUrl: null },
    ]);
    const [row] = await targets.read(
      'odd',
      (session) =>
        session.query(
          `SELECT current_setting('application_name') AS name, current_setting('default_transaction_read_only') AS ro`,
        ),
      within(5_000),
    );
    expect(row).toEqual({ name: 'sentry', ro: 'on' });
    await targets.close();
  });
});
