import type { Domain } from './incident.ts';

/** A system Sentry may touch, by name, from configuration. Addresses and credentials stay in `infra`. */
export interface Target {
  /** Lower-case letters, digits, `-`, `_`, `.`; what models and people call it. */
  readonly name: string;
  readonly kind: 'postgres' | 'host';
  readonly domain: Domain;
  readonly environment: string;
  /** Names and label values an alert may use for it (`shop-db:5432`, `shop`), matched whole and case-insensitively. */
  readonly aliases: readonly string[];
}
