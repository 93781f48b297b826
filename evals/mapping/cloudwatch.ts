import { z } from 'zod';
import type { RecordedOutput } from '../replay/scenario.ts';
import { documentOf } from './document-of.ts';
import type { MappedOutput, Mapping } from './mapping.ts';

// Amazon RDS for PostgreSQL as CloudWatch and Performance Insights tell about it.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html

const METRICS = 'aws_cloudwatch_metrics';
const INSIGHTS = 'aws_performance_insights';

const Metrics = z.object({
  metric_data_results: z.array(
    z.object({
      metric_name: z.string(),
      dimensions: z.array(z.object({ Name: z.string(), Value: z.string() })).default([]),
      timestamps: z.array(z.string()).default([]),
      values: z.array(z.number()).default([]),
    }),
  ),
});
const Insights = z.object({
  top_sql: z
    .array(
      z.object({
        statement: z.string(),
        db_load_avg: z.number().nullish(),
        calls_per_sec: z.number().nullish(),
        wait_events: z.array(z.object({ name: z.string(), db_load_avg: z.number().nullish() })).default([]),
      }),
    )
    .default([]),
});

interface Series {
  readonly name: string;
  readonly instance: string;
  readonly at: string;
  readonly last: number;
  readonly first: number;
}

/** The latest value of a metric for each instance it was recorded of. CloudWatch may give the newest first. */
function allSeries(outputs: readonly RecordedOutput[], name: string): readonly Series[] {
  const results = Metrics.safeParse(documentOf(outputs, METRICS)).data?.metric_data_results ?? [];
  return results
    .filter((one) => one.metric_name === name)
    .flatMap(({ dimensions, timestamps, values }): Series[] => {
      const points = values
        .map((value, i) => ({ value, at: timestamps[i] ?? '' }))
        .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || 0);
      const [first, last] = [points[0], points.at(-1)];
      if (first === undefined || last === undefined) return [];
      const instance = dimensions.find((one) => one.Name === 'DBInstanceIdentifier')?.Value ?? 'replica';
      return [{ name, instance, at: last.at, last: last.value, first: first.value }];
    });
}

/** Of the one instance there is; of several nobody says which is meant. */
function series(outputs: readonly RecordedOutput[], name: string): Series | undefined {
  const found = allSeries(outputs, name);
  return found.length === 1 ? found[0] : undefined;
}

const line = (one: Series): string =>
  `${one.name} of ${one.instance}: ${one.last} at ${one.at} (first ${one.first}).`;

/**
 * `ReplicaLag` is the replay lag in seconds, -1 where nothing is replicated; how many bytes that is, and the slots, CloudWatch
 * does not say.
 */
function replication(outputs: readonly RecordedOutput[]): MappedOutput | undefined {
  const lags = allSeries(outputs, 'ReplicaLag').filter(({ last }) => last >= 0);
  if (lags.length === 0) return undefined;
  const replicas = lags.map(({ instance, last }) => ({
    application_name: instance,
    replay_lag_seconds: Math.round(last),
  }));
  return {
    text: [
      `${lags.length === 1 ? '1 replica' : `${lags.length} replicas`}; ${lags.map(line).join(' ')}`,
      ...replicas.map((one) => `${one.application_name} | replay lag ${one.replay_lag_seconds} s`),
    ].join('\n'),
    data: {
      is_standby: false,
      replica_count: replicas.length,
      max_replay_lag_seconds: Math.max(...replicas.map((one) => one.replay_lag_seconds)),
      replicas,
    },
  };
}

/**
 * How many connections are in use. Not which share of the limit that is: a database has many limits that are not
 * recorded, and "there is room" said of this one would be heard as "all is well".
 */
function connections(outputs: readonly RecordedOutput[]): MappedOutput | undefined {
  const used = series(outputs, 'DatabaseConnections');
  return used && { text: line(used), data: { used: used.last } };
}

/** The size of `pg_wal`, and nothing about checkpoints or archiving. */
function walSize(outputs: readonly RecordedOutput[]): MappedOutput | undefined {
  const size = series(outputs, 'TransactionLogsDiskUsage');
  return size && { text: line(size), data: { wal_dir_bytes: size.last } };
}

/** Statements by the load they make; times and blocks are not recorded. */
function statements(outputs: readonly RecordedOutput[]): MappedOutput | undefined {
  const top = Insights.safeParse(documentOf(outputs, INSIGHTS)).data?.top_sql ?? [];
  if (top.length === 0) return undefined;
  const rows = top.map(({ statement, db_load_avg, calls_per_sec, wait_events }) => ({
    query: statement,
    load: db_load_avg ?? null,
    calls_per_second: calls_per_sec ?? null,
    waits: wait_events.map(({ name }) => name),
  }));
  return {
    text: [
      `${rows.length} statements by load (average active sessions):`,
      ...rows.map((row) => `${row.load ?? '?'} | ${row.waits.join(', ')} | ${row.query}`),
    ].join('\n'),
    data: { statements: rows },
  };
}

const one =
  (read: (outputs: readonly RecordedOutput[]) => MappedOutput | undefined): Mapping['read'] =>
  (outputs) =>
    [read(outputs) ?? []].flat();

export const postgresOfCloudWatch: readonly Mapping[] = [
  { from: [METRICS], to: 'postgres_replication', read: one(replication) },
  { from: [METRICS], to: 'postgres_connections', read: one(connections) },
  { from: [METRICS], to: 'postgres_checkpoints', read: one(walSize) },
  { from: [INSIGHTS], to: 'postgres_slow_statements', read: one(statements) },
];
