/** Rows as PostgreSQL's text protocol maps them to JavaScript; `bigint` and `numeric` come as numbers where exact, else strings. */
export type Row = Readonly<Record<string, unknown>>;

/** One connection to a PostgreSQL target, for the length of one tool call. */
export interface PostgresSession {
  /** `$1…` parameters; one statement. Throws OpsError on faults, `code` = `POSTGRES_<SQLSTATE>`. */
  query(sql: string, params?: readonly unknown[]): Promise<readonly Row[]>;
}

/** The PostgreSQL targets by name; adapters in infra/postgres. */
export interface PostgresTargets {
  /** Read-only session: `default_transaction_read_only`, statement timeout; a reserved connection, so it works when the server's slots are full. */
  read<T>(target: string, use: (session: PostgresSession) => Promise<T>, options: SessionOptions): Promise<T>;
  /** The other credential, for active tools' preflight and run. */
  act<T>(target: string, use: (session: PostgresSession) => Promise<T>, options: SessionOptions): Promise<T>;
}

export interface SessionOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What tools may reach. Later domains add theirs here. */
export interface ToolPorts {
  readonly postgres: PostgresTargets;
}
