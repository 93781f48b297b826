import type { SessionOptions } from '../../tools/ports.ts';

export type Labels = Readonly<Record<string, string>>;

/** Seconds since 1970, and the value then: NaN and infinite values as they are. */
export type Point = readonly [at: number, value: number];

/** A time series; for one moment it has one point. Its metric's name is the label `__name__`. */
export interface Series {
  readonly labels: Labels;
  readonly points: readonly Point[];
}

export interface Answered {
  readonly series: readonly Series[];
  readonly warnings: readonly string[];
}

export interface Range {
  /** Seconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly stepSeconds: number;
}

/** A rule that fires an alert. */
export interface AlertingRule {
  readonly name: string;
  readonly expression: string;
  /** How long the expression has to return something before it fires. */
  readonly forSeconds: number;
  readonly labels: Labels;
  readonly annotations: Labels;
  /** `firing`, `pending`, `inactive`. */
  readonly state: string;
  /** `ok`, `err`, or `unknown` before its first evaluation. */
  readonly health: string;
  /** Why its last evaluation failed; empty when it did not. */
  readonly error: string;
}

/** What is scraped. */
export interface ScrapeTarget {
  readonly job: string;
  readonly instance: string;
  /** `up`, `down`, `unknown`. */
  readonly health: string;
  /** Why the last scrape failed; empty when it did not. */
  readonly error: string;
  /** ISO 8601; null: never. */
  readonly lastScrape: string | null;
}

/** Rules that are evaluated together; `content`: all that they say, for comparison. */
export interface RuleGroup {
  readonly file: string;
  readonly name: string;
  readonly content: string;
}

/** What a server was last told to do; without secrets, which it does not tell. */
export interface LoadedConfig {
  readonly content: string;
  /** ISO 8601; null: it does not say. */
  readonly loadedAt: string | null;
}

/** Prometheus as tools see it. Everything throws OpsError, see `HttpApi`. */
export interface Prometheus {
  /** `2.42.0`. */
  version(options: SessionOptions): Promise<string>;
  /** Its clock, seconds since 1970. */
  now(options: SessionOptions): Promise<number>;
  /** PromQL at one moment, now when left out. */
  query(query: string, options: SessionOptions, at?: number): Promise<Answered>;
  queryRange(query: string, range: Range, options: SessionOptions): Promise<Answered>;
  /** Those of that name: often one a severity. */
  alertingRules(name: string, options: SessionOptions): Promise<readonly AlertingRule[]>;
  scrapeTargets(options: SessionOptions): Promise<readonly ScrapeTarget[]>;
  /** Of alerts and of recordings. */
  ruleGroups(options: SessionOptions): Promise<readonly RuleGroup[]>;
  loadedConfig(options: SessionOptions): Promise<LoadedConfig>;
}
