import { openDatabase } from '../src/infra/db/client.ts';
import { createAuditLog } from '../src/safety/audit/audit-chain.ts';

/** `url name count at-once`: appends so many entries, so many callers at once; says when it began and ended (epoch ms). */
const [url = '', name = '', count = '0', atOnce = '1'] = process.argv.slice(2);
const database = openDatabase(url, { max: 2, name: 'bench' });
const audit = createAuditLog(database.sql);
await database.sql`SELECT 1`;
const started = Date.now();
let next = 0;
async function caller(): Promise<void> {
  while (next < Number(count)) {
    next += 1;
    const details = {
      toolCall: 'tc_000000000000',
      tool: 'postgres_blocking_tree',
      state: 'ok',
      name,
      n: next,
    };
    await audit.append({ kind: 'gate.outcome', actor: 'detective', incidentId: 'INC-1', details });
  }
}
await Promise.all(Array.from({ length: Number(atOnce) }, caller));
process.stdout.write(JSON.stringify({ started, ended: Date.now() }));
await database.close();
