import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { TransactionSql } from 'postgres';
import { OpsError } from '../../../core/errors.ts';
import type { Tx } from '../../../core/sql.ts';
import { whyNot } from '../../../core/system-fault.ts';
import { withConnection } from '../with-connection.ts';
import { tablesOf, versionsOf } from './backup.ts';
import {
  type BackupEnd,
  type BackupHead,
  END_OF_ROWS,
  linesOf,
  notWhole,
  type TableHead,
} from './backup-file.ts';

export interface RestoreOptions {
  /** Over a record that has something in it. */
  readonly force: boolean;
  /** In the same transaction, once all is there. */
  readonly afterwards: (tx: Tx, head: BackupHead) => Promise<void>;
}

/**
 * Puts a backup in the place of the record, all of it or nothing.
 *
 * @throws OpsError BACKUP_BROKEN, BACKUP_VERSION, RECORD_IN_USE, RECORD_NOT_EMPTY, RESTORE_RIGHTS
 */
export async function restore(url: string, file: string, options: RestoreOptions): Promise<BackupHead> {
  const source = createReadStream(file);
  const unpacked = createGunzip();
  // Its errors come out where the lines are read.
  const piping = pipeline(source, unpacked).catch(() => undefined);
  try {
    return await withConnection(url, (sql) =>
      sql.begin(async (tx) => {
        const lines = linesOf(unpacked);
        const head = await readHead(lines);
        await mayRestore(tx, head, options.force);
        await load(tx, lines);
        await options.afterwards(tx as unknown as Tx, head);
        return head;
      }),
    );
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_') || (code === undefined && error instanceof SyntaxError)) throw notWhole(error);
    if (syscall === 'open')
      throw new OpsError('NO_BACKUP', `${file} cannot be read: ${whyNot(error)}.`, {
        hint: 'Name a file that `sentry backup` has written.',
      });
    throw error;
  } finally {
    source.destroy();
    unpacked.destroy();
    await piping;
  }
}

async function readHead(lines: AsyncGenerator<string, void>): Promise<BackupHead> {
  const head = JSON.parse((await next(lines)) ?? '{}') as Partial<BackupHead> | null;
  if (head?.sentryBackup !== 1 || !head.versions) throw notWhole();
  return head as BackupHead;
}

async function mayRestore(tx: TransactionSql, { versions }: BackupHead, force: boolean): Promise<void> {
  const here = await versionsOf(tx);
  if (here.record !== versions.record || here.engine !== versions.engine)
    throw new OpsError(
      'BACKUP_VERSION',
      `The backup is of another version of Sentry (${versions.record}, engine ${versions.engine}; here ${here.record}, engine ${here.engine}).`,
      { hint: 'Restore it with the version that made it, and upgrade then.' },
    );
  const [now] = await tx<{ running: boolean; filled: boolean; mayLoad: boolean }[]>`
    SELECT EXISTS (SELECT FROM process WHERE beat_at > clock_timestamp() - interval '10 s') AS running,
           EXISTS (SELECT FROM incident) AS filled,
           (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS "mayLoad"`;
  if (now?.running)
    throw new OpsError('RECORD_IN_USE', 'Sentry is running on this record.', {
      hint: 'Stop every process of it, wait ten seconds, and restore then.',
    });
  if (now?.filled && !force)
    throw new OpsError('RECORD_NOT_EMPTY', 'There is a record already, and a restore would take its place.', {
      hint: 'Back it up, then add --force.',
    });
  if (!now?.mayLoad)
    throw new OpsError(
      'RESTORE_RIGHTS',
      'Only a superuser of PostgreSQL may load a record with its triggers off.',
      {
        hint: 'Restore with a DATABASE_URL of a superuser; or back up and restore this database by pg_dump and pg_restore.',
      },
    );
}

async function load(tx: TransactionSql, lines: AsyncGenerator<string, void>): Promise<void> {
  const tables = new Map((await tablesOf(tx)).map((head) => [head.table, head]));
  // Triggers and foreign keys had their say when the rows were written; tables come in no order.
  await tx`SET LOCAL session_replication_role = replica`;
  for (const table of tables.keys()) await tx`DELETE FROM ${tx(table)}`;
  await tx`DELETE FROM process`;
  for (;;) {
    const head = JSON.parse((await next(lines)) ?? 'null') as (TableHead & Partial<BackupEnd>) | null;
    if (head === null) throw notWhole();
    if (head.sequences) {
      for (const [name, last] of Object.entries(head.sequences))
        await tx`SELECT setval(${name}::text::regclass, ${last})`;
      break;
    }
    if (!tables.has(head.table)) throw notWhole();
    const into = await tx`COPY ${tx(head.table)} (${tx(head.columns)}) FROM STDIN`.writable();
    await pipeline(Readable.from(rowsOf(lines)), into);
  }
  await tx`SET LOCAL session_replication_role = origin`;
}

async function* rowsOf(lines: AsyncGenerator<string, void>): AsyncGenerator<string> {
  for (;;) {
    const row = await next(lines);
    if (row === null) throw notWhole();
    if (row === END_OF_ROWS) return;
    yield `${row}\n`;
  }
}

/** One line on, without closing what they come from. */
async function next(lines: AsyncGenerator<string, void>): Promise<string | null> {
  const { value, done } = await lines.next();
  return done ? null : (value as string);
}
