import { openStore } from '../../src/app/store.ts';
import type { Config } from '../../src/config/config.ts';
import { messageOf } from '../../src/core/errors.ts';
import { openDatabase } from '../../src/infra/db/client.ts';
import { quiet } from './quiet.ts';
import { startingTogether } from './start-together.ts';

/** Opens the record in one database after the other, as a start does, each at the same moment as the processes beside it. */
for (const databaseUrl of process.argv.slice(2)) {
  const { sql, close } = openDatabase(databaseUrl, { max: 1 });
  await startingTogether(sql);
  await close();
  try {
    const store = await openStore({ databaseUrl } as Config, quiet);
    await store.sql`SELECT sentry_enqueue_turn('INC-0', 'test', 0)`;
    await store.stop();
    process.stdout.write('opened\n');
  } catch (error) {
    process.stdout.write(`${messageOf(error)}\n`);
  }
}
