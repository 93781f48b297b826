/** Something that goes wrong in the shop, as the page offers it and Prometheus would notice it. */
export interface ShopFault extends FaultFacts {
  /** Where it happens, as people call it: `shop-db`. */
  readonly system: string;
  /** Why it cannot be caused on this machine, and what would change that; null: it can. */
  readonly impossible: string | null;
  /** Returns when the fault is in place. What it holds open, the caller keeps until it is undone. */
  cause(): Promise<HeldFault>;
  /** Takes back what outlives the sessions (settings, data); runs after `release`, and alone after a restart. */
  undo(): Promise<void>;
  /** Looks at the system itself, whoever caused it. */
  read(): Promise<Reading>;
}

export interface FaultFacts {
  /** As in the page's URL: `blocked_sessions`. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** No change that Sentry may make ends it: it names the cause, and hands it over. */
  readonly needsPeople?: true;
  readonly rule: AlertRule;
}

/** For faults that hold nothing open. */
export const nothingHeld: HeldFault = { release: async () => undefined };

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
  /** Of the alert, beside its name and severity. */
  readonly labels: Readonly<Record<string, string>>;
}
