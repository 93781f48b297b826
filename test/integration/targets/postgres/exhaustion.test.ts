import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientSession } from '../../../../playground/faults/postgres/client-session.ts';
import { connectionExhaustion } from '../../../../playground/faults/postgres/connection-exhaustion.ts';
import { until } from '../../../../playground/faults/until.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { type ShopRig, startShopRig } from './shop-rig.ts';

let rig: ShopRig;
beforeAll(async () => {
  rig = await startShopRig();
  // Without pg_use_reserved_connections nothing but the connection kept open can help.
  await rig.shop.admin`REVOKE pg_use_reserved_connections FROM sentry_read, sentry_act`;
  await rig.read('postgres_session', { pid: 1, backend_start: '2026-01-01T00:00:00Z' });
  await rig.targets.identity('shop-db');
});
afterAll(() => rig.stop());

/** What each tool needs beside nothing. */
const inputs: Readonly<Record<string, object>> = {
  postgres_session: { pid: 1, backend_start: '2026-01-01T00:00:00Z' },
  postgres_settings: { names: ['max_connections'] },
  postgres_cache_hit: { sample_seconds: 0.1 },
};

test('with every connection slot taken, all reading tools still answer, alone and at once, and the blocker can be ended', async () => {
  const held = await connectionExhaustion.cause(rig.shop);
  try {
    await expect(clientSession(rig.shop.readUrl, 'late').unsafe('SELECT 1')).rejects.toMatchObject({
      code: '53300',
    });
    const { data } = await rig.read('postgres_connections');
    expect(data).toMatchObject({
      max_connections: 30,
      superuser_reserved: 3,
      reserved: 2,
      usable: 25,
      full: true,
      free: 0,
    });
    expect(data.top_application.application_name).toBe('shop-storefront');
    const readers = allTools.filter(
      ({ name, kind }) => name.startsWith('postgres_') && kind !== 'active' && name !== 'postgres_explain',
    );
    const answers = await Promise.all(
      readers.map((tool) => rig.read(tool.name, (inputs[tool.name] ?? {}) as never)),
    );
    expect(answers.every(({ text }) => text.length > 0)).toBe(true);

    const tree = await rig.read('postgres_blocking_tree');
    expect(tree.data.root).toMatchObject({
      application_name: 'shop-stock-import',
      state: 'idle in transaction',
    });
    const key = { pid: tree.data.root.pid, backend_start: tree.data.root.backend_start };
    expect((await rig.act('postgres_terminate_backend', key)).kind).toBe('succeeded');
    await until(
      'the queue to be gone',
      async () => (await rig.read('postgres_blocking_tree')).data.blocked_count === 0,
    );
  } finally {
    await held.release();
  }
  await until('slots to be free', async () => !(await rig.read('postgres_connections')).data.full);
});

test('a connection lost while the server is full comes back as soon as there is a slot', async () => {
  const held = await connectionExhaustion.cause(rig.shop);
  await rig.shop.admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'sentry_read'`;
  // Its slot may be free for a moment, or taken by the next request: an error then has to say what is wrong.
  const error = await rig.read('postgres_connections').then(
    () => null,
    (caught: unknown) => caught,
  );
  if (error !== null)
    expect(error).toMatchObject({
      code: expect.stringMatching(/^POSTGRES_(53300|57P01|CONNECTION_)/),
      retryable: true,
    });
  await held.release();
  await until('an answer', async () =>
    rig.read('postgres_connections').then(
      () => true,
      () => false,
    ),
  );
});
