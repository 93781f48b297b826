/** The row of a table that keeps a `T`: each field in the column of its name. Timestamps are ISO 8601 text, bigint a number. */
export type RowOf<T> = { [Field in keyof T as Snake<Field & string>]: T[Field] };

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : '';

/**
 * One statement by tagged template: every `${value}` is a parameter, never text. `infra/db` stands behind it (postgres.js).
 * Whoever reads the answer names its columns, `sql<{ id: string }>`: of a row without a type nothing can be read.
 */
export interface Tx {
  <R extends object = object>(
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
