import type { Sql } from '../../src/core/sql.ts';

/** One statement as somebody with the database in his hands would type it. */
export function typed(sql: Sql, statement: string): PromiseLike<unknown> {
  return sql(Object.assign([statement], { raw: [statement] }));
}

/** A row of whatever a test asks for. */
export type Row = Readonly<Record<string, unknown>>;
