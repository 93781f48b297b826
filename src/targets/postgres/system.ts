import type { SessionOptions } from '../../tools/ports.ts';

/** Rows as PostgreSQL's text protocol maps them to JavaScript; `bigint` and `numeric` come as numbers where exact, else strings. */
export type Row = Readonly<Record<string, unknown>>;

/** One connection to a PostgreSQL target, for the length of one tool call. */
export interface PostgresSession {
  /** `$1…` parameters; one statement. Throws OpsError on faults, `code` = `POSTGRES_<SQLSTATE>`. */
  query(sql: string, params?: readonly unknown[]): Promise<readonly Row[]>;
}

/** What the server makes of a statement before it plans it. */
export interface DescribedStatement {
  /** The type (oid) of each parameter. */
  readonly parameters: readonly number[];
  /** How many columns its result has. */
  readonly columns: number;
}

/** A connection that nobody else has used or will use. */
export interface OwnPostgresSession extends PostgresSession {
  /** Parses and analyses; plans and runs nothing. */
  describe(sql: string): Promise<DescribedStatement>;
}

/** A PostgreSQL server, by its two credentials. */
export interface PostgresSystem {
  /** Read-only session: `default_transaction_read_only`, statement timeout; a reserved connection, so it works when the server's slots are full. */
  read<T>(use: (session: PostgresSession) => Promise<T>, options: SessionOptions): Promise<T>;
  /** Like `read`, on a connection of its own that is closed afterwards: for what may leave traces in its session. Needs a free slot. */
  readAlone<T>(use: (session: OwnPostgresSession) => Promise<T>, options: SessionOptions): Promise<T>;
  /** The other credential, for active tools' preflight and run. */
  act<T>(use: (session: PostgresSession) => Promise<T>, options: SessionOptions): Promise<T>;
}
