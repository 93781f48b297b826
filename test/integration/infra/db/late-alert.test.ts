import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { migrateDatabase } from '../../../../src/infra/db/migrate.ts';
import { scratchDatabase } from '../../../support/postgres.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { waitFor } from '../../../support/wait-for.ts';

const migrations = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));

test('an alert that an older process takes in during the upgrade has its state on record', async () => {
  const before = scratchDir();
  for (const name of readdirSync(migrations))
    if (name < '20261125203000') cpSync(join(migrations, name), join(before, name), { recursive: true });
  const scratch = await scratchDatabase();
  await migrateDatabase(scratch.url, before);
  const { sql, close } = openDatabase(scratch.url, { max: 3, name: 'test' });
  try {
    await sql`
      INSERT INTO incident (id, title, severity, domain, source, fingerprint, labels, annotations)
      VALUES ('INC-1', 'late', 'warning', 'postgres', 'alertmanager', 'f', '{}', '{}')`;
    let upgraded = false;
    const { upgrade } = await sql.begin(async (tx) => {
      await tx`
        INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at)
        VALUES ('INC-1', 'k', 'alertmanager', 'f', 'firing', 'late', '{}', '{}', clock_timestamp())`;
      const running = migrateDatabase(scratch.url, migrations).finally(() => {
        upgraded = true;
      });
      await waitFor('the upgrade to wait, or to be over', async () => {
        const waiting = await sql`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        return waiting.length > 0 || upgraded;
      });
      return { upgrade: running };
    });
    await upgrade;
    expect(await sql`SELECT firing FROM alert_state WHERE incident_id = 'INC-1'`).toEqual([{ firing: true }]);
  } finally {
    await close();
    await scratch.drop();
  }
});
