import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../src/app/store.ts';
import { fail } from '../src/cli/fail.ts';
import { loadConfig } from '../src/config/config.ts';
import { createLog } from '../src/infra/log/log.ts';
import { benchAgent } from './agent.ts';
import { benchAudit } from './audit.ts';
import { benchChanges, changesSize } from './changes.ts';
import { benchConcurrency } from './concurrency.ts';
import { benchDistance } from './distance.ts';
import { benchFanOut } from './fan-out.ts';
import { benchGrowth } from './growth.ts';
import { growthSize } from './growth-size.ts';
import { benchIngest } from './ingest.ts';
import { benchInjection } from './injection/measure.ts';
import { benchLogWatcher } from './log-watcher.ts';
import { benchOverhead } from './overhead.ts';
import { benchRetrieval } from './retrieval.ts';
import { retrievalOptions } from './retrieval-options.ts';
import { benchScanner } from './scanner.ts';
import { qualityFiles } from './scanner-quality.ts';
import { benchStartup } from './startup.ts';
import { benchStorm } from './storm.ts';
import { stormSize } from './storm-size.ts';

const [what = '', ...flags] = process.argv.slice(2);

/** Everything a bench makes is in a folder of its own, removed afterwards. */
const dataDir = await mkdtemp(join(tmpdir(), 'sentry-bench-'));
// As root, PostgreSQL runs as another user, and would keep its data elsewhere if this folder were closed to it.
await chmod(dataDir, 0o755);
try {
  const result = await measure(what);
  // A bench that judges itself fails where a bound is missed.
  if ('met' in result && result.met === false) process.exitCode = 1;
  process.stdout.write(flags.includes('--json') ? `${JSON.stringify(result, null, 2)}\n` : table(result));
} catch (error) {
  fail(error);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

async function measure(name: string): Promise<object> {
  switch (name) {
    case 'startup':
      return benchStartup(dataDir);
    case 'retrieval':
      return benchRetrieval(dataDir, retrievalOptions(flags));
    case 'injection':
      return benchInjection(flags);
    case 'scanner':
      return benchScanner(qualityFiles(flags));
    case 'distance':
      return benchDistance(loadConfig());
    case 'concurrency':
      return benchConcurrency(dataDir);
    case 'overhead':
      return benchOverhead(dataDir);
    case 'agent':
      return withStore(({ databaseUrl }) => benchAgent({ databaseUrl }));
    case 'fan-out':
      return withStore(({ databaseUrl }) => benchFanOut({ databaseUrl }));
    case 'audit':
      return withStore(benchAudit);
    case 'changes':
      return withStore((store) => benchChanges({ ...store, changes: changesSize(flags) }));
    case 'log-watcher':
      return withStore((store) => benchLogWatcher(dataDir, store));
    case 'growth':
      return withStore((store) => benchGrowth(store, growthSize(flags)));
    case 'storm':
      return benchStorm(dataDir, stormSize(flags));
    case 'ingest':
      return withStore(benchIngest);
    default:
      process.stderr.write(
        'bench: startup, ingest, overhead, concurrency, growth, storm, agent, fan-out, audit, changes, distance, injection, log-watcher, retrieval or scanner\n',
      );
      process.exit(2);
  }
}

async function withStore(bench: (store: { databaseUrl: string }) => Promise<object>): Promise<object> {
  const config = loadConfig({ SENTRY_DATA_DIR: dataDir });
  const store = await openStore(config, createLog('error'));
  try {
    return await bench({ databaseUrl: store.url });
  } finally {
    await store.stop();
  }
}

/** Plain lines for people: one per value, rows of a list indented. */
function table(result: object, indent = ''): string {
  return Object.entries(result)
    .map(([key, value]) => {
      if (Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null))
        return `${indent}${key}\n${value.map((item: object) => `${table(item, `${indent}  `)}\n`).join('')}`;
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        return `${indent}${key}\n${table(value, `${indent}  `)}`;
      if (Array.isArray(value) && value.some((item) => String(item).includes(' ')))
        return `${indent}${key}\n${value.map((item) => `${indent}  ${String(item)}\n`).join('')}`;
      return `${indent}${key.padEnd(26)} ${Array.isArray(value) ? value.join(', ') : String(value)}\n`;
    })
    .join('');
}
