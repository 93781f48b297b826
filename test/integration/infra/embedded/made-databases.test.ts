import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { startShop } from '../../../../playground/faults/postgres/shop.ts';
import { startEmbeddedPostgres } from '../../../../src/infra/db/embedded/start-embedded-postgres.ts';
import { migrateDatabase } from '../../../../src/infra/db/migrate.ts';
import { layDatabase } from '../../../support/made-databases.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

it('gives two shops at once the same rows in servers of their own', async () => {
  const shops = await Promise.all(
    [scratchDir(), scratchDir()].map(async (folder) => {
      await layDatabase('shop', folder);
      const shop = await startShop(folder, quiet);
      onTestFinished(() => shop.stop());
      return shop;
    }),
  );
  const [one, other] = shops.map(({ admin }) => admin);
  const ids = shops.map(
    async ({ admin }) => (await admin`SELECT system_identifier FROM pg_control_system()`)[0],
  );
  const [first, second] = await Promise.all(ids);
  expect(first).toEqual(second);
  await one?.unsafe('DELETE FROM cart_events');
  expect(await other?.unsafe('SELECT count(*)::int AS rows FROM cart_events')).toMatchObject([
    { rows: 30_000 },
  ]);
});

it('leaves a first start no migration to apply', async () => {
  const dataDir = scratchDir();
  await layDatabase('record', dataDir);
  const server = await startEmbeddedPostgres({ dataDir, name: 'sentry', log: quiet });
  onTestFinished(() => server.stop());
  const migrations = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));
  expect(await migrateDatabase(server.url, migrations)).toEqual([]);
});
