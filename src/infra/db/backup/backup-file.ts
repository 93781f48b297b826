import type { Readable } from 'node:stream';
import { OpsError } from '../../../core/errors.ts';

/**
 * A backup is gzip: a line of JSON (`BackupHead`); for each table a line of JSON (`TableHead`), its rows as COPY writes
 * them, a line each, and the line `\.`; then a line of JSON (`BackupEnd`). Without the last line it is not whole.
 */
export interface BackupHead {
  readonly sentryBackup: 1;
  readonly madeAt: string;
  /** What the record's and the engine's tables look like. */
  readonly versions: Versions;
  /** Files of the data folder that belong to the record, by name. */
  readonly files: Readonly<Record<string, string>>;
}

export interface Versions {
  /** The newest migration. */
  readonly record: string;
  readonly engine: string;
}

export interface TableHead {
  readonly table: string;
  readonly columns: readonly string[];
}

export interface BackupEnd {
  readonly sequences: Readonly<Record<string, number>>;
}

export const END_OF_ROWS = '\\.';

/** By line feeds alone: rows contain other characters that some readers take for the end of a line. */
export async function* linesOf(stream: Readable): AsyncGenerator<string, void> {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    let from = 0;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10, from)) {
      yield rest.toString('utf8', from, at);
      from = at + 1;
    }
    rest = rest.subarray(from);
  }
  if (rest.length > 0) throw notWhole();
}

export function notWhole(cause?: unknown): OpsError {
  return new OpsError('BACKUP_BROKEN', 'The file is no whole backup of Sentry.', {
    hint: 'Take another one; `sentry backup` writes them whole or not at all.',
    cause,
  });
}
