import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { measureAt, numberAt } from '../../../core/measure.ts';
import { age, bytes, table } from '../../format.ts';
import { output, postgresReadTool, rowsAsJson, serverVersion } from './postgres-read-tool.ts';

/**
 * Replicas and slots. Data: `{ is_standby, replica_count, max_lag_bytes, max_replay_lag_seconds, unknown_lag_count,
 * replay_delay_seconds,
 * replicas: [{ application_name, client_addr, state, sync_state, lag_bytes, write_lag_seconds, replay_lag_seconds }],
 * slot_count, inactive_slot_count, max_retained_bytes, slots: [{ slot_name, slot_type, database, active, wal_status,
 * retained_bytes, temporary }], wal_level, max_slot_wal_keep_bytes }`, the worst first. `replay_delay_seconds` is this server's own, on a
 * standby; `max_slot_wal_keep_bytes` -1: a dead slot may fill the disk.
 */
export const postgresReplication = postgresReadTool({
  name: 'postgres_replication',
  description:
    'Replication: lag of each replica (bytes, seconds), replication slots with the WAL they retain in bytes and whether they are active, and the own delay on a standby. For lag alerts, and for a pg_wal folder that grows.',
  measures: [
    {
      name: 'replay_lag',
      label: 'largest replay lag',
      well: 'the largest replay lag is {bound}',
      unit: 's',
      healthy: 'at_most',
      bound: 30,
      // A replica that is not connected has no lag here, and the largest of all.
      value: (data) => (numberAt(data, 'replica_count') ? numberAt(data, 'max_replay_lag_seconds') : null),
      isPartial: (data) => numberAt(data, 'unknown_lag_count') !== 0,
    },
    measureAt('replay_delay_seconds', {
      name: 'replay_delay',
      label: 'delay of this standby',
      well: 'this standby is {bound} behind',
      unit: 's',
      healthy: 'at_most',
      bound: 30,
      metrics: ['pg_replication_lag', 'pg_replication_lag_seconds'],
    }),
    measureAt('inactive_slot_count', {
      name: 'inactive_slots',
      label: 'inactive replication slots',
      well: '{bound} are inactive',
      unit: 'slots',
      healthy: 'at_most',
      bound: 0,
    }),
  ],
  input: z.strictObject({}),
  async read(session) {
    const version = await serverVersion(session);
    const here = 'CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END';
    const [own] = await session.query(`
      SELECT pg_is_in_recovery() AS is_standby, current_setting('wal_level') AS wal_level,
             (SELECT CASE WHEN setting::bigint < 0 THEN -1 ELSE setting::bigint * 1024 * 1024 END FROM pg_settings
               WHERE name = 'max_slot_wal_keep_size') AS keep,
             CASE WHEN pg_is_in_recovery() AND pg_last_wal_receive_lsn() IS DISTINCT FROM pg_last_wal_replay_lsn()
                  THEN round(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::numeric, 1)
                  -- All that was received is replayed: nothing is behind only while more can be received.
                  WHEN pg_is_in_recovery() AND EXISTS (SELECT FROM pg_stat_wal_receiver WHERE pid IS NOT NULL) THEN 0
                  WHEN pg_is_in_recovery() THEN round(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::numeric, 1)
             END AS replay_delay`);
    const replicas = rowsAsJson(
      await session.query(`
        SELECT application_name, host(client_addr) AS client_addr, state, sync_state,
               pg_wal_lsn_diff(${here}, replay_lsn)::bigint AS lag_bytes,
               round(extract(epoch FROM write_lag)::numeric, 3) AS write_lag_seconds,
               round(extract(epoch FROM replay_lag)::numeric, 3) AS replay_lag_seconds
          FROM pg_stat_replication ORDER BY lag_bytes DESC NULLS LAST`),
    );
    const slots = rowsAsJson(
      await session.query(`
        SELECT slot_name::text, slot_type, database::text, active, temporary, wal_status,
               pg_wal_lsn_diff(${here}, restart_lsn)::bigint AS retained_bytes
               ${version >= 170_000 ? ', inactive_since::text, invalidation_reason' : ''}
          FROM pg_replication_slots ORDER BY retained_bytes DESC NULLS LAST`),
    );
    const largest = (rows: readonly { readonly [key: string]: unknown }[], name: string): number =>
      Math.max(0, ...rows.map((row) => Number(row[name] ?? 0)));
    const data = {
      is_standby: own?.['is_standby'] === true,
      replica_count: replicas.length,
      max_lag_bytes: largest(replicas, 'lag_bytes'),
      max_replay_lag_seconds: largest(replicas, 'replay_lag_seconds'),
      // Caught up and idle, a replica reports none.
      unknown_lag_count: replicas.filter(
        (row) => row['replay_lag_seconds'] === null && row['lag_bytes'] !== 0,
      ).length,
      replay_delay_seconds: (own?.['replay_delay'] ?? null) as number | null,
      replicas,
      slot_count: slots.length,
      inactive_slot_count: slots.filter((slot) => slot['active'] === false).length,
      max_retained_bytes: largest(slots, 'retained_bytes'),
      slots,
      wal_level: String(own?.['wal_level']),
      max_slot_wal_keep_bytes: Number(own?.['keep']),
    };
    const limit =
      data.max_slot_wal_keep_bytes < 0
        ? 'unlimited: an inactive slot can fill the disk'
        : bytes(data.max_slot_wal_keep_bytes);
    return output(
      [
        data.is_standby
          ? `This server is a standby, ${age(data.replay_delay_seconds)} behind.`
          : 'This server is a primary.',
        `${count(replicas.length, 'replica')}, largest lag ${bytes(data.max_lag_bytes)} / ${age(data.max_replay_lag_seconds)}; ${count(slots.length, 'slot')}, ${data.inactive_slot_count} inactive, most WAL retained ${bytes(data.max_retained_bytes)}; max_slot_wal_keep_size ${limit}.`,
        ...table(
          ['replica', 'address', 'state', 'sync', 'lag', 'replay lag'],
          replicas.map((row) => [
            row['application_name'],
            row['client_addr'],
            row['state'],
            row['sync_state'],
            bytes(row['lag_bytes']),
            age(row['replay_lag_seconds']),
          ]),
        ),
        ...table(
          ['slot', 'type', 'active', 'wal_status', 'retained'],
          slots.map((row) => [
            row['slot_name'],
            row['slot_type'],
            row['active'],
            row['wal_status'],
            bytes(row['retained_bytes']),
          ]),
        ),
      ],
      data,
    );
  },
});
