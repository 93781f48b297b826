import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { alertDirection } from '../../../../src/agents/playbook/alert-direction.ts';
import { matchRunbooks } from '../../../../src/agents/playbook/match-runbook.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import { anIncident } from './scripted-work.ts';

let runbooks: readonly Runbook[];
beforeAll(async () => {
  ({ runbooks } = await loadRunbooks(fileURLToPath(new URL('../../../../runbooks', import.meta.url))));
});

const fits = (alertName: string | null, title: string, annotations: Record<string, string> = {}) =>
  (['postgres', 'docker'] as const).flatMap((domain) =>
    matchRunbooks(runbooks, anIncident({ alertName, title, annotations, domain }), [], []).map(
      ({ runbook, sided }) => `${runbook.id}${sided ? '' : '?'}`,
    ),
  );

describe('an idiom of a fault', () => {
  it.each([
    ['ContainerImagePullFailed', 'shop-search could not be deployed: no such image', 'image-missing'],
    ['ContainerExited', 'shop-worker: no such file or directory', 'container-died'],
    ['ContainerOOM', 'shop-index: out of memory', 'container-died'],
    ['ContainerKilled', 'shop-index was killed', 'container-died'],
  ])('%s (%s) is no alert of the opposite', (name, title, runbook) => {
    expect(fits(name, title)).toContain(runbook);
  });
});

describe('an alert of the opposite', () => {
  // Names and titles as exporters, clouds and people write them; none is one of the rules that Sentry ships with.
  it.each([
    ['PostgresTooFewConnections', 'Too few connections on shop-db'],
    ['PostgresqlNotEnoughConnections', 'PostgreSQL not enough connections'],
    ['PostgresDatabaseConnections', 'Connections dropped to zero'],
    ['DatabaseConnectionsLow', 'DatabaseConnections below 2'],
    ['RDSDatabaseConnections', 'No connections on orders'],
    ['PostgresConnectionUtilization', 'Connection utilization has fallen under 1 %'],
    ['ConnectionSlots', 'Many connection slots are free'],
    ['PostgresReplicationLag', 'Replica has caught up'],
    ['ReplicationLagRecovered', 'Replication lag is back to normal'],
    ['ReplicaLag', 'Replication lag decreased below 1 s'],
    ['HostDiskSpace', 'Disk free space is high on app-1'],
    ['HostDiskUsageLow', 'Disk usage is low'],
    ['HostOutOfDiskSpaceResolved', 'Disk space recovered'],
    ['PostgresCacheHitRatioHigh', 'Cache hit ratio above 99 %'],
    ['PostgresCacheMissLow', 'Hardly a cache miss: few misses'],
    ['PostgresNoCheckpoint', 'No checkpoints for an hour'],
    ['PostgresCheckpointsRare', 'Checkpoints are rare'],
    ['PostgresNoDeadlocks', 'Zero deadlocks this week'],
    ['PostgresBlockedSessionsCleared', 'No sessions left'],
    ['HostServiceStarted', 'shop-worker is running on shop-host'],
    ['HostServiceUp', 'shop-worker is up again'],
    ['HostConfigurationReloaded', 'Configuration was reloaded'],
    ['ReplicationSlotActive', 'Slot is active'],
    ['PostgresWalSizeShrunk', 'pg_wal is small again'],
    ['PostgresBlockedSessions', 'No sessions are blocked any longer'],
    ['PostgresBlockedSessions', '0 blocked sessions'],
    ['LongRunningQuery', 'Long running query finished'],
    ['CacheHitRatioLow', 'No data for the cache hit ratio'],
    ['CacheHitRatio', 'The metric is absent: cache hit ratio is absent'],
    ['WALGrowth', 'WAL growth has stopped'],
    ['LogGrowthRate', 'Log growth is low'],
    ['CheckpointsStopped', 'The last checkpoint is old'],
    ['PostgresDeadlocks', 'Keine Deadlocks'],
  ])('%s (%s) is given no runbook for its name', (name, title) => {
    expect(fits(name, title)).toEqual([]);
  });

  it('is known by its description where its name says nothing', () => {
    expect(
      fits('PostgresDatabaseConnections', 'Connections of shop-db', { summary: 'They fell to 0.' }),
    ).toEqual([]);
  });
});

describe('an alert that means the bad side', () => {
  it.each([
    ['PostgresTooManyConnections', 'Too many connections', 'connection-exhaustion'],
    ['PostgresConnectionSlotsLow', 'Few free connection slots', 'connection-exhaustion'],
    ['ConnectionSlots', 'No connection slots are left', 'connection-exhaustion'],
    ['RDSDatabaseConnectionsHigh', 'Connections', 'connection-exhaustion'],
    ['PostgresReplicationLag', 'Replica has not caught up', 'replication-lag'],
    ['RDSFreeStorageSpaceLow', 'Storage', 'wal-disk-growth'],
    ['PostgresCacheHitRatioLow', 'Cache', 'cache-hit-collapse'],
    ['PostgresCacheMissHigh', 'Cache', 'cache-hit-collapse'],
    ['PostgresCheckpointsTooFrequent', 'Checkpoints', 'checkpoint-storm'],
    ['PostgresBlockedSessions', 'No answer from checkout: sessions are blocked', 'blocked-sessions'],
    ['LongRunningQuery', 'Query on shop-db-0 has not finished', 'long-running-query'],
    ['LogGrowthRateHigh', 'Log grows', 'host-disk-filling-log'],
    ['HostServiceDown', 'shop-worker is not running', 'host-service-down'],
    ['HostSystemdServiceFailed', 'a service failed; it was running before', 'host-service-down'],
    ['HostDiskWillFillIn24Hours', 'Disk', 'host-disk-filling-log'],
    ['HostOutOfDiskSpace', 'Less than 10 % of the disk are free', 'host-disk-filling-log'],
    ['PostgresIdleInTransaction', 'A session is idle in transaction', 'idle-in-transaction'],
    ['PostgresLongRunningQuery', 'A query has been running for very long', 'long-running-query'],
    ['PostgresReplicationSlotInactive', 'A slot is not active', 'inactive-replication-slot'],
  ])('%s (%s) is given %s', (name, title, id) => {
    expect(fits(name, title)).toContain(id);
  });
});

describe('an alert that says neither', () => {
  it.each([
    ['PostgresDatabaseConnections', 'Connections of shop-db', 'connection-exhaustion?'],
    ['HostDiskIoErrors', 'Disk I/O errors', 'host-disk-filling-log?'],
    ['PostgresCheckpoints', 'Checkpoints', 'checkpoint-storm?'],
  ])('%s (%s) leaves the side open', (name, title, id) => {
    expect(fits(name, title)).toEqual([id]);
  });

  it('is taken for the fault itself where the measure is one', () => {
    expect(alertDirection({ bad: 'present', inverse: [], opposite: [] }, ['Deadlocks on shop-db'])).toBe(
      'same',
    );
    expect(alertDirection({ bad: 'high', inverse: [], opposite: [] }, ['Connections'])).toBe('unsaid');
  });
});
