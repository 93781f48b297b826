import { describe, expect, test } from 'vitest';
import { checkVerifyStep } from '../../../src/actions/recovery/check-verify-step.ts';
import { readMeasure } from '../../../src/core/measure.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import { allTools } from '../../../src/targets/all-tools.ts';

function judge(tool: string, measure: string, data: Json, bound?: number): boolean | null {
  const found = allTools.find(({ name }) => name === tool);
  const declared = (found && 'measures' in found ? found.measures : [])?.find(({ name }) => name === measure);
  if (!declared) throw new Error(`${tool} has no measure ${measure}`);
  return readMeasure(declared, bound ?? declared.bound, data).isHealthy;
}

describe('a measure of which a part was not read', () => {
  const growth = { complete: true, unread_folders: 0, fastest_growth: 0, watched_seconds: 3 };
  test.each<readonly [string, string, string, Json, boolean | null]>([
    ['all files seen, none grows', 'list_files', 'fastest_growth', growth, true],
    ['a limit was reached', 'list_files', 'fastest_growth', { ...growth, complete: false }, null],
    ['a folder is closed', 'list_files', 'fastest_growth', { ...growth, unread_folders: 1 }, null],
    [
      'what was seen is enough to be red',
      'list_files',
      'fastest_growth',
      { ...growth, complete: false, fastest_growth: 1e6 },
      false,
    ],
    [
      'a certificate that cannot be read',
      'certificates',
      'fewest_days_left',
      { fewest_days_left: 90, complete: false },
      null,
    ],
    [
      'one of those that can has expired',
      'certificates',
      'fewest_days_left',
      { fewest_days_left: -1, complete: false },
      false,
    ],
    [
      'a file system that does not answer',
      'file_systems',
      'fullest_used_percent',
      { fullest: 40, complete: false },
      null,
    ],
    ['processes of others hidden', 'host_usage', 'zombies', { zombies: 0, sees_all: false }, null],
    ['not watched', 'list_files', 'fastest_growth', { ...growth, fastest_growth: null }, null],
    ['no disk known', 'list_files', 'disk_used_percent', { disk: { used_percent: null } }, null],
    ['no service declared', 'service_status', 'services_down', { services: [] }, null],
    ['one service down', 'service_status', 'services_down', { services: [{ running: false }] }, false],
    [
      'sessions hidden',
      'postgres_blocking_tree',
      'blocked_sessions',
      { blocked_count: 0, hidden_count: 2 },
      null,
    ],
    [
      'sessions hidden, others blocked',
      'postgres_blocking_tree',
      'blocked_sessions',
      { blocked_count: 1, hidden_count: 2 },
      false,
    ],
    [
      'a wait of unknown length',
      'postgres_blocking_tree',
      'longest_lock_wait',
      { longest_wait_seconds: 0, unknown_wait_count: 1, hidden_count: 0 },
      null,
    ],
    [
      'a replica whose lag is hidden',
      'postgres_replication',
      'replay_lag',
      { replica_count: 2, max_replay_lag_seconds: 1, unknown_lag_count: 1 },
      null,
    ],
    [
      'a replica that is not connected',
      'postgres_replication',
      'replay_lag',
      { replica_count: 0, max_replay_lag_seconds: 0, unknown_lag_count: 0 },
      null,
    ],
    [
      'tables beyond the limit',
      'postgres_table_health',
      'tables_past_vacuum_threshold',
      { over_threshold_count: 0, complete: false },
      null,
    ],
  ])('%s', (_, tool, measure, data, healthy) => {
    expect(judge(tool, measure, data)).toBe(healthy);
  });

  test('is said to be read in part, never as a tick', () => {
    const found = allTools.find(({ name }) => name === 'postgres_blocking_tree');
    const measures = (found && 'measures' in found ? found.measures : undefined) ?? [];
    const step = {
      tool: 'postgres_blocking_tree',
      input: {},
      measure: { name: 'blocked_sessions' },
      says: 'nobody waits',
    };
    const data = { blocked_count: 0, hidden_count: 2 };
    const toolCallId = 'tc_000000000000' as never;
    expect(
      checkVerifyStep(step, { kind: 'ok', toolCallId, text: '', data, truncated: false }, measures),
    ).toEqual({
      holds: null,
      value: 0,
      line: 'Cannot tell: sessions waiting for a lock: 0 sessions (healthy: at most 0 sessions), as far as it can be seen; part of it is hidden or was not read',
    });
  });
});
