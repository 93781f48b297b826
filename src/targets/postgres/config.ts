/** A PostgreSQL target with its credentials. `actUrl` null: it can be investigated but not changed. */
export interface PostgresTargetConfig {
  readonly name: string;
  readonly kind: 'postgres';
  readonly environment: string;
  readonly aliases: readonly string[];
  readonly readUrl: string;
  readonly actUrl: string | null;
}
