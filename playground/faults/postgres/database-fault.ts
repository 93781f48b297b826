import type { Sql } from 'postgres';
import type { AlertRule, FaultFacts, HeldFault, Reading, ShopFault } from '../fault.ts';
import { blockedSessions } from './blocked-sessions.ts';
import { connectionExhaustion } from './connection-exhaustion.ts';
import { idleInTransaction } from './idle-in-transaction.ts';
import { runawayQuery } from './runaway-query.ts';
import type { Shop } from './shop.ts';
import { tableBloat } from './table-bloat.ts';

/** Something that goes wrong in a shop's database. */
export interface DatabaseFault extends Omit<FaultFacts, 'rule'> {
  readonly rule: Omit<AlertRule, 'labels'>;
  cause(shop: Shop): Promise<HeldFault>;
  undo(shop: Shop): Promise<void>;
  read(admin: Sql): Promise<Reading>;
}

/** What goes wrong in the playground's database. */
export function databaseFaults(shop: Shop): readonly ShopFault[] {
  // As the exporter of Prometheus would label them.
  const labels = {
    datname: shop.database,
    instance: 'shop-db:5432',
    job: 'postgres-exporter',
    source_type: 'database',
    team: 'shop',
  };
  return [blockedSessions, idleInTransaction, connectionExhaustion, runawayQuery, tableBloat].map(
    (fault) => ({
      ...fault,
      system: 'shop-db',
      impossible: null,
      rule: { ...fault.rule, labels },
      cause: () => fault.cause(shop),
      undo: () => fault.undo(shop),
      read: () => fault.read(shop.admin),
    }),
  );
}
