import { join } from 'node:path';
import { parseTargets } from '../src/config/targets.ts';
import { openDatabase } from '../src/infra/db/client.ts';
import { createAcceptIn } from '../src/ingest/accept.ts';
import { createLogWatch } from '../src/ingest/watch-logs.ts';
import { domainOfLabels } from '../src/targets/domains.ts';
import { kinds } from '../src/targets/kinds.ts';
import { connectSystems, toTarget } from '../src/targets/systems.ts';

// It ends with whoever started it.
process.stdin.resume().on('end', () => process.exit());
/** `url folder id [how soon, ms]`: watches `app.log` of a folder as a process of this id, with its heartbeat, until it is killed. */
const [url = '', dir = '', executorId = '', newsMs = '1000'] = process.argv.slice(2);
const { sql } = openDatabase(url, { max: 4, name: 'reader' });
const beat = async (): Promise<void> => {
  await sql`
    INSERT INTO process (executor_id, pid, host) VALUES (${executorId}, ${process.pid}, 'bench')
    ON CONFLICT (executor_id) DO UPDATE SET beat_at = clock_timestamp()`;
};
await beat();
setInterval(() => void beat(), 1_000);
const watch = [{ file: join(dir, 'app.log'), patterns: [{ match: 'ERROR|FATAL', name: 'BenchErrors' }] }];
const configs = parseTargets(
  { targets: [{ name: 'bench', kind: 'host', roots: [dir], watch }] },
  {},
  'bench',
);
const pace = { lookMs: 50, newsMs: Number(newsMs), againMs: Math.max(100, Number(newsMs)), askMs: 200 };
createLogWatch({
  sql,
  acceptIn: createAcceptIn(configs.map(toTarget), domainOfLabels(kinds)),
  watched: connectSystems(kinds, configs, { ownPorts: [] }).logs,
  executorId,
  log: { debug: () => undefined, info: () => undefined, warn: say, error: say },
  pace,
  // Each matching line is looked for afterwards, so each is to be an alert of its own.
  maxShapes: Number.POSITIVE_INFINITY,
}).look();
process.stdout.write('ready\n');

function say(...what: readonly unknown[]): void {
  process.stderr.write(`${JSON.stringify(what)}\n`);
}
