import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { TransactionSql } from 'postgres';
import { OpsError } from '../../../core/errors.ts';
import { whyNot } from '../../../core/system-fault.ts';
import { withConnection } from '../with-connection.ts';
import {
  type BackupEnd,
  type BackupHead,
  END_OF_ROWS,
  type TableHead,
  type Versions,
} from './backup-file.ts';

/** Heartbeats of processes are of their moment; what has been migrated is compared. */
const LEFT_OUT = ['public.process', 'public._prisma_migrations', 'dbos.dbos_migrations'];

/** Writes the whole record as it is at one moment, also while Sentry works on it. Returns how many tables it has. */
export async function backUp(url: string, file: string, files: BackupHead['files']): Promise<number> {
  const draft = `${file}.part`;
  try {
    const tables = await withConnection(url, (sql) =>
      sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
        const heads = await tablesOf(tx);
        const out = createWriteStream(draft, { mode: 0o600 });
        await pipeline(Readable.from(contents(tx, heads, files)), createGzip(), out);
        return heads.length;
      }),
    );
    renameSync(draft, file);
    return tables;
  } catch (error) {
    rmSync(draft, { force: true });
    // Nobody but us knows the draft's name.
    if ((error as NodeJS.ErrnoException).path === draft)
      throw new OpsError('NO_BACKUP', `${file} cannot be written: ${whyNot(error)}.`, {
        hint: 'Name a file in a folder that is there and that you may write to.',
        cause: error,
      });
    throw error;
  }
}

async function* contents(tx: TransactionSql, tables: readonly TableHead[], files: BackupHead['files']) {
  const [now] = await tx<{ at: Date }[]>`SELECT clock_timestamp() AS at`;
  const madeAt = now?.at.toISOString() ?? '';
  yield line({ sentryBackup: 1, madeAt, versions: await versionsOf(tx), files } satisfies BackupHead);
  for (const head of tables) {
    yield line(head);
    yield* toTheEnd(await tx`COPY ${tx(head.table)} (${tx(head.columns)}) TO STDOUT`.readable());
    yield `${END_OF_ROWS}\n`;
  }
  // Last: no transaction holds them still, and a number that is given twice is worse than one that is left out.
  yield line({ sequences: await sequencesOf(tx) } satisfies BackupEnd);
}

/**
 * All that the stream of a COPY gives. The driver (postgres 3.4.9) pauses its socket when the stream is full, and goes on when
 * it is asked for more; a stream that was full at its end is asked no more, and the next statement would wait for ever.
 */
async function* toTheEnd(stream: Readable): AsyncGenerator<unknown> {
  yield* stream;
  stream._read(0);
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

export async function tablesOf(tx: TransactionSql): Promise<readonly TableHead[]> {
  return tx<TableHead[]>`
    SELECT n.nspname || '.' || c.relname AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     WHERE n.nspname IN ('public', 'dbos') AND c.relkind = 'r' AND n.nspname || '.' || c.relname <> ALL (${LEFT_OUT})
     GROUP BY 1 ORDER BY 1`;
}

async function sequencesOf(tx: TransactionSql): Promise<BackupEnd['sequences']> {
  const rows = await tx<{ name: string; last: string }[]>`
    SELECT schemaname || '.' || sequencename AS name, last_value AS last FROM pg_sequences
     WHERE schemaname IN ('public', 'dbos') AND last_value IS NOT NULL ORDER BY 1`;
  return Object.fromEntries(rows.map(({ name, last }) => [name, Number(last)]));
}

export async function versionsOf(tx: TransactionSql): Promise<Versions> {
  const [row] = await tx<{ record: string; engine: string }[]>`
    SELECT (SELECT max(migration_name) FROM _prisma_migrations WHERE finished_at IS NOT NULL) AS record,
           (SELECT max(version)::text FROM dbos.dbos_migrations) AS engine`;
  return { record: row?.record ?? '', engine: row?.engine ?? '' };
}
