/**
 * Made-up incidents to measure an embedding with: how an alert's title speaks, how the same fault is titled when it comes
 * again elsewhere, and what memory would have kept of it. All different faults, some of the same system, as in real life.
 */
export interface CalibrationIncident {
  readonly type: string;
  readonly title: string;
  /** Of another time, on another target. */
  readonly again: string;
  readonly cause: string;
  readonly remedy: string;
}

export const calibrationIncidents: readonly CalibrationIncident[] = [
  {
    type: 'blocked_sessions',
    title: 'Sessions are blocked on ledger-db',
    again: 'Blocked sessions on parcels-db',
    cause:
      'Session 5120 of the importer left a transaction open for 14 min and holds the lock that 9 sessions wait for.',
    remedy: 'End session 5120; find out why the importer does not commit.',
  },
  {
    type: 'connection_exhaustion',
    title: 'Too many connections on ledger-db',
    again: 'Connections nearly used up on parcels-db',
    cause: 'The reporting service holds 81 of 97 connections and uses none of them: it leaks connections.',
    remedy: 'Restart the reporting service and limit its pool.',
  },
  {
    type: 'runaway_query',
    title: 'A query runs for 40 minutes on ledger-db',
    again: 'Long-running query on parcels-db',
    cause: 'Session 733 of a dashboard joins two large tables without a condition.',
    remedy: 'Cancel the statement, and give the role a statement_timeout.',
  },
  {
    type: 'replication_lag',
    title: 'Replica ledger-db-2 lags behind',
    again: 'Replication lag of parcels-db-b above 5 minutes',
    cause: 'The replica receives WAL in time but replays it late: a report there holds replay back.',
    remedy: 'Cancel the report on the replica.',
  },
  {
    type: 'table_bloat',
    title: 'Table ledger.entries has many dead tuples',
    again: 'Dead rows pile up in parcels.events',
    cause: 'Autovacuum is switched off for the table, which carries 800000 dead rows.',
    remedy: 'Vacuum the table and switch autovacuum on again.',
  },
  {
    type: 'wraparound_risk',
    title: 'Transaction id age is high on ledger-db',
    again: 'parcels-db comes near to wraparound',
    cause: 'A prepared transaction that nobody finished keeps vacuum from freezing old rows.',
    remedy: 'Roll the prepared transaction back, then vacuum the oldest tables.',
  },
  {
    type: 'wal_growth',
    title: 'pg_wal of ledger-db grows',
    again: 'The WAL directory of parcels-db is 40 GB',
    cause: 'Archiving fails since the archive is full, so WAL is kept until it succeeds.',
    remedy: 'Make room in the archive.',
  },
  {
    type: 'deadlocks',
    title: 'Deadlocks on ledger-db',
    again: 'Deadlock detected several times on parcels-db',
    cause: 'Two jobs update the same accounts in different order.',
    remedy: 'Let both take their locks in one order, and retry.',
  },
  {
    type: 'service_down',
    title: 'The service courier is down on web-3',
    again: 'courier does not run on web-7',
    cause: 'courier dies at its start: its port is taken by an old process.',
    remedy: 'End the old process, then start courier.',
  },
  {
    type: 'disk_filling_log',
    title: 'The disk of web-3 is filling up',
    again: 'Less than 8 % of the disk are free on web-7',
    cause: 'courier repeats one warning and writes its log at 2 MB a second.',
    remedy: 'Restart courier, and rotate its log by size.',
  },
  {
    type: 'certificate_expired',
    title: 'The certificate of shop.example.com has expired',
    again: 'TLS certificate of api.example.com is not valid any more',
    cause: 'The renewal job fails because its DNS credentials were changed.',
    remedy: 'Put the new credentials into the renewal job and run it.',
  },
  {
    type: 'dns_failure',
    title: 'Names of the internal zone are not resolved',
    again: 'DNS lookups fail for svc.internal',
    cause: 'Both resolvers were moved, and the hosts still ask the old addresses.',
    remedy: 'Write the new resolvers into the hosts and the image.',
  },
  {
    type: 'memory_exhausted',
    title: 'A container of thumbnailer was killed for memory',
    again: 'OOM kill in render-worker',
    cause: 'A picture of 300 megapixels needs more memory than the limit of the container.',
    remedy: 'Refuse pictures of that size, or raise the limit.',
  },
  {
    type: 'crash_loop',
    title: 'Pod checkout-api restarts again and again',
    again: 'basket-api is in a crash loop',
    cause: 'A variable that the new release needs is missing from its configuration.',
    remedy: 'Add the variable, or roll the release back.',
  },
  {
    type: 'image_pull_failure',
    title: 'The image of checkout-api cannot be pulled',
    again: 'Image pull fails for basket-api',
    cause: 'The tag of the release was never pushed to the registry.',
    remedy: 'Push the image, or deploy the tag before it.',
  },
  {
    type: 'unschedulable',
    title: 'Pods of search-indexer stay pending',
    again: 'mail-indexer cannot be scheduled',
    cause: 'No node has the 12 GB of memory that the new request asks for.',
    remedy: 'Lower the request, or add a larger node.',
  },
  {
    type: 'node_not_ready',
    title: 'Node pool-a-4 is not ready',
    again: 'Kubernetes node pool-b-9 stopped reporting',
    cause: 'The kubelet hangs since the disk of the node answers late.',
    remedy: 'Drain the node and replace its disk.',
  },
  {
    type: 'queue_backlog',
    title: 'The queue of invoices is 90000 messages long',
    again: 'Backlog in the queue of reminders',
    cause: 'All consumers wait for a mail server that does not answer.',
    remedy: 'Give the consumers a timeout for mail.',
  },
  {
    type: 'error_rate',
    title: 'One in ten requests of checkout fails',
    again: 'HTTP 5xx of basket above 8 %',
    cause: 'A deployment 10 minutes before calls an endpoint of payment that is not there yet.',
    remedy: 'Roll the deployment back until payment is out.',
  },
  {
    type: 'clock_skew',
    title: 'The clock of web-3 is 40 seconds off',
    again: 'Clock of web-7 is not synchronised',
    cause: 'The time service was stopped by a hardening script.',
    remedy: 'Start the time service, and take it out of the script.',
  },
];
