/** A row as the database gives it: column names in snake case, timestamps as ISO 8601 text, bigint as number. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** One statement by tagged template: every `${value}` is a parameter, never text. `infra/db` stands behind it (postgres.js). */
export interface Tx {
  <R extends SqlRow = SqlRow>(
    strings: TemplateStringsArray,
    ...values: readonly unknown[]
  ): PromiseLike<readonly R[]>;
  /** A value stored as json or jsonb. */
  json(value: unknown): unknown;
  /** An array parameter of the element type the statement casts it to. */
  array(values: readonly unknown[]): unknown;
}

export interface Sql extends Tx {
  /** Runs `use` in a transaction; rolled back when it throws. `options` e.g. `isolation level repeatable read read only`. */
  begin<T>(use: (tx: Tx) => Promise<T>): Promise<T>;
  begin<T>(options: string, use: (tx: Tx) => Promise<T>): Promise<T>;
}
