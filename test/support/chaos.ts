import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../src/core/sql.ts';
import { type Database, openDatabase } from '../../src/infra/db/client.ts';
import { processesUnder, type RunningProcess } from './processes-under.ts';
import { waitFor } from './wait-for.ts';

/** The record's embedded PostgreSQL of a data folder. */
export function recordUrl(dataDir: string): string {
  const { password, port } = stateOf(join(dataDir, 'postgres'));
  return `postgres://postgres:${password}@127.0.0.1:${port}/sentry`;
}

/** The record, read past the product: what it did is judged from outside. */
export function recordDatabase(dataDir: string): Database {
  const database = openDatabase(recordUrl(dataDir), { max: 3, name: 'chaos' });
  return { ...database, sql: patient(database.sql) };
}

/** Reads that wait for a database which is being killed and started by the test. */
function patient(sql: Sql): Sql {
  const ask = async (strings: TemplateStringsArray, ...values: readonly unknown[]) => {
    const deadline = Date.now() + 60_000;
    for (;;) {
      try {
        return await sql(strings, ...values);
      } catch (error) {
        const { code = '' } = error as { readonly code?: string };
        if (!/^(57P|08|CONNECT|ECONN|EPIPE)/.test(code) || Date.now() > deadline) throw error;
        await sleep(100);
      }
    }
  };
  return ask as unknown as Sql;
}

/** The database under care, as its superuser. */
export function shopDatabase(dataDir: string): Database {
  const { password, port } = stateOf(join(dataDir, 'faults', 'data', 'shop-db'));
  return openDatabase(`postgres://postgres:${password}@127.0.0.1:${port}/shop_db`, {
    max: 1,
    name: 'chaos',
  });
}

function stateOf(folder: string): { readonly password: string; readonly port: number } {
  return JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8')) as { password: string; port: number };
}

/** Fails with what is still there. */
export async function nothingLeft(dataDir: string): Promise<void> {
  await waitFor(`no process of ${dataDir}`, async () => processesUnder(dataDir).length === 0, {
    timeoutMs: 60_000,
    seen: () => processesUnder(dataDir),
  });
}

/** The parts a start begins as processes of their own. */
export type Part = 'record' | 'chroma' | 'slack' | 'faults' | 'shop-db';

const commands: Readonly<Record<Part, RegExp>> = {
  record: /bin\/postgres -D \S*\/postgres\/cluster/,
  chroma: /chromadb\S* run .*--path/,
  slack: /playground\/slack\/main\.js/,
  faults: /playground\/faults\/main\.js/,
  'shop-db': /bin\/postgres -D \S*\/shop-db\/cluster/,
};

/** The process of a part, when it runs. */
export function partOf(dataDir: string, part: Part): RunningProcess | undefined {
  return processesUnder(dataDir).find(({ command }) => commands[part].test(command));
}

/** Sends a signal to a part; answers whom. */
export function signalPart(dataDir: string, part: Part, signal: NodeJS.Signals): RunningProcess {
  const running = partOf(dataDir, part);
  if (!running) throw new Error(`${part} does not run: ${JSON.stringify(processesUnder(dataDir))}`);
  process.kill(running.pid, signal);
  return running;
}
