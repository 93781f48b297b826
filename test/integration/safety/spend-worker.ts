import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../../src/infra/db/client.ts';
import { createAuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { createCostBreaker } from '../../../src/safety/limits/cost-breaker.ts';
import { quiet } from '../../support/quiet.ts';
import { startingTogether } from '../../support/start-together.ts';

/**
 * A process that makes model calls, `--callers` of them at any time, each as dear as it may be (`--usd`), until it is not
 * let any more. `--blind`: it looks at what was spent, but reserves nothing. Prints how many calls it made.
 */
const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    callers: { type: 'string', default: '10' },
    usd: { type: 'string', default: '0.5' },
    limit: { type: 'string', default: '5' },
    blind: { type: 'boolean', default: false },
    // How long a call takes at most, ms.
    lasts: { type: 'string', default: '60' },
  },
});
const { sql, close } = openDatabase(values.url ?? '', { max: 10, name: 'spend' });
const usd = Number(values.usd);
const breaker = createCostBreaker({
  sql,
  audit: createAuditLog(sql),
  limits: { usd: Number(values.limit), windowMs: 600_000, perIncidentUsd: 1_000, perDayUsd: 1_000 },
  log: quiet,
});
let calls = 0;
await startingTogether(sql);

async function caller(): Promise<void> {
  for (;;) {
    const reserved = await breaker.reserve({
      incidentId: null,
      usd: values.blind ? 0 : usd,
      forMs: 30_000,
      waitMs: 20_000,
      signal: new AbortController().signal,
    });
    if (!reserved.ok) return;
    calls += 1;
    await sleep(Math.random() * Number(values.lasts));
    await sql`
      INSERT INTO usage (role, model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_usd)
      VALUES ('detective', 'm', 0, 0, 0, 0, ${usd})`;
    await reserved.release();
  }
}

await Promise.all(Array.from({ length: Number(values.callers) }, caller));
process.stdout.write(String(calls));
await close();
