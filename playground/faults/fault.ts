import type { Sql } from 'postgres';
import type { Shop } from './postgres/shop.ts';

/** Something that goes wrong in the shop's database, as the page offers it and Prometheus would notice it. */
export interface ShopFault {
  /** As in the page's URL: `blocked_sessions`. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly rule: AlertRule;
  /** Returns when the fault is in place. What it holds open, the caller keeps until it is undone. */
  cause(shop: Shop): Promise<HeldFault>;
  /** Takes back what outlives the sessions (settings, data); runs after `release`, and alone after a restart. */
  undo(shop: Shop): Promise<void>;
  /** Looks at the database itself, whoever caused it. */
  read(admin: Sql): Promise<Reading>;
}

export interface HeldFault {
  release(): Promise<void>;
}

/** What the alert's expression sees now. */
export interface Reading {
  readonly holds: boolean;
  /** One clause for people: "4 sessions wait, the longest for 12 s". */
  readonly says: string;
}

export interface AlertRule {
  readonly alertname: string;
  readonly severity: 'critical' | 'warning';
  /** Prometheus' `for`: how long it must hold before it fires, ms. */
  readonly forMs: number;
  readonly summary: string;
  /** Followed by the reading. */
  readonly description: string;
  /** Alertmanager's inhibition: no notification begins while one of these fires. */
  readonly inhibitedBy: readonly string[];
  /** Instead of the common labels, for what is not about the database. */
  readonly labels?: Readonly<Record<string, string>>;
}
