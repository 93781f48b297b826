import { parseArgs } from 'node:util';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';

/** A process that appends: `--count` entries in rounds of `--at-once`, every seventh inside a transaction of its own. */
const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    name: { type: 'string' },
    count: { type: 'string' },
    'at-once': { type: 'string' },
  },
});
const database = openDatabase(values.url ?? '', { max: 4, name: 'audit' });
const audit = createAuditLog(database.sql);
const count = Number(values.count);
const atOnce = Number(values['at-once']);
const entry = (n: number) => ({ kind: 'test', actor: 'system', details: { process: values.name ?? '', n } });

await database.sql`SELECT 1`;
const started = Date.now();
for (let n = 0; n < count; n += atOnce)
  await Promise.all(
    Array.from({ length: Math.min(atOnce, count - n) }, async (_, offset) => {
      if ((n + offset) % 7 === 3) await database.sql.begin((tx) => audit.appendIn(tx, entry(n + offset)));
      else await audit.append(entry(n + offset));
    }),
  );
process.stdout.write(JSON.stringify({ started, ended: Date.now() }));
await database.close();
