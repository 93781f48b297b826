import { describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { clusterText } from '../../../src/memory/past/cluster-text.ts';
import {
  type Cluster,
  clustersOf,
  commandPattern,
  type PastCase,
  withoutNearCopies,
} from '../../../src/memory/past/clusters.ts';
import { endOf, formatEnds } from '../../../src/memory/past/incident-end.ts';

let n = 0;
function aCase(change: Partial<PastCase> = {}): PastCase {
  n += 1;
  return {
    id: asIncidentId(`INC-${n}`),
    title: 'PostgresBlockedSessions',
    alertName: 'PostgresBlockedSessions',
    incidentType: 'blocked_sessions',
    target: 'shop-db',
    severity: 'critical',
    fingerprint: `f${n}`,
    cause: 'Session 7157 of the report job holds a lock on orders.',
    end: 'fixed',
    openedAt: '2026-11-20T10:00:00Z',
    updatedAt: '2026-11-20T10:05:00Z',
    tried: [],
    grades: [],
    isCauseWrong: false,
    text: null,
    system: null,
    ...change,
  };
}
const sizes = (cases: readonly PastCase[]) => clustersOf(cases).map((one) => one.cases.length);

describe('incidents are one problem', () => {
  test.each<[string, Partial<PastCase>, Partial<PastCase>]>([
    [
      'of one alert, whatever it is called and whatever the cause',
      { fingerprint: 'f' },
      { fingerprint: 'f', title: 'Other', cause: 'A vacuum.' },
    ],
    [
      'with other process ids and times',
      {},
      { cause: 'Session 901 of the report job holds a lock on orders.' },
    ],
    ['with a number in the title', { title: '3 sessions are blocked' }, { title: '17 sessions are blocked' }],
    ['where one has no cause', {}, { cause: null }],
  ])('%s', (_, a, b) => expect(sizes([aCase(a), aCase(b)])).toEqual([2]));

  test.each<[string, Partial<PastCase>]>([
    ['of another cause', { cause: 'Autovacuum of carts waits for a backup to end.' }],
    ['on another target', { target: 'other-db' }],
    ['of another kind', { incidentType: 'deadlocks' }],
    ['with another title', { title: 'Checkout is slow' }],
  ])('but not %s', (_, b) => expect(sizes([aCase(), aCase(b)])).toEqual([1, 1]));
});

test('a command is the same with another process and another time, and not with another value', () => {
  const ended = (pid: number, at: string) =>
    `SELECT pg_terminate_backend(${pid}) FROM pg_stat_activity WHERE pid = ${pid} AND backend_start = '${at}'`;
  expect(commandPattern(ended(7157, '2026-11-20T10:00:00.123Z'))).toBe(
    commandPattern(ended(12, '2026-11-21 09:30:01+00')),
  );
  expect(commandPattern('docker restart 4f2a9b1c77de')).toBe(commandPattern('docker restart 0123456789ab'));
  for (const [a, b] of [
    ['ALTER SYSTEM SET max_connections = 200', 'ALTER SYSTEM SET max_connections = 100'],
    ["SET work_mem = '4MB'", "SET work_mem = '64MB'"],
    ['restart shop-1', 'restart shop-2'],
  ] as const)
    expect(commandPattern(a)).not.toBe(commandPattern(b));
});

test('what says nearly the same on the same target is left out, and what tells something new is not', () => {
  const clusters = clustersOf([
    aCase({
      alertName: 'A',
      incidentType: null,
      cause: 'The checkout application holds all connections of the pool.',
    }),
    aCase({
      alertName: 'B',
      incidentType: null,
      cause: 'The checkout application holds all connections of its pool.',
    }),
    aCase({ target: 'other-db', cause: 'The checkout application holds all connections of the pool.' }),
    aCase({ cause: 'A vacuum waits for a backup.' }),
  ]);
  expect(clusters).toHaveLength(4);
  const kept = withoutNearCopies(clusters, (one: Cluster) => one);
  expect(kept).toEqual([clusters[0], clusters[2], clusters[3]]);
});

test('the text says how often, how it ended, what helped, and other causes', () => {
  const tried = [{ command: 'kill 7', success: true }];
  const fingerprint = 'same';
  const [cluster] = clustersOf([
    aCase({ fingerprint, tried, openedAt: '2026-11-22T10:00:00Z', text: 'Title: PostgresBlockedSessions' }),
    aCase({ fingerprint, tried: [{ command: 'kill 8', success: false }], end: 'not_fixed' }),
    aCase({
      fingerprint,
      cause: 'Autovacuum of carts waits for a backup.',
      end: 'source',
      openedAt: '2026-11-01T10:00:00Z',
    }),
  ]);
  if (!cluster) throw new Error('no cluster');
  expect(clusterText(cluster).split('\n')).toEqual([
    'Seen 3 times: first 2026-11-01, last 2026-11-22.',
    'End: fixed once; over, said its source once; not fixed once.',
    'What was run: kill … (helped 1 of 2).',
    'Another cause (once): Autovacuum of carts waits for a backup.',
    '',
    `The newest, ${cluster.newest.id}:`,
    'Title: PostgresBlockedSessions',
  ]);
});

test.each([
  [{ state: 'resolved', verdict: 'fixed', resolvedBy: 'confirmed' }, 'fixed'],
  [{ state: 'resolved', verdict: 'not_fixed', resolvedBy: 'source' }, 'over, said its source'],
  [{ state: 'resolved', verdict: null, resolvedBy: 'person' }, 'closed by a person'],
  [{ state: 'escalated', verdict: 'not_fixed', resolvedBy: null }, 'not fixed'],
  [{ state: 'reported', verdict: null, resolvedBy: null }, 'end not on record'],
] as const)('%o ended: %s', (incident, words) => expect(formatEnds([endOf(incident)])).toBe(words));
