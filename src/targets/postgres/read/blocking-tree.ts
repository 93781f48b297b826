import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { measureAt, numberAt } from '../../../core/measure.ts';
import type { Json } from '../../../core/tool-call.ts';
import { age, more, oneLine, table } from '../../format.ts';
import type { PostgresSession, Row } from '../system.ts';
import { type BlockingGraph, blockingGraph } from './blocking-graph.ts';
import { output, postgresReadTool, serverVersion } from './postgres-read-tool.ts';
import { relationName } from './relation-size.ts';
import {
  hiddenLine,
  hiddenSessions,
  hidesSessions,
  type SessionFacts,
  secondsSince,
  sessionColumns,
  sessionFacts,
  who,
} from './session-columns.ts';

const shownWaiters = 15;
const keptWaiters = 100;

/**
 * Who blocks whom. Data:
 * `{ blocked_count, root_count, max_depth, longest_wait_seconds, single_root,
 *    root: Root|null, roots: Root[], blocked: Waiter[], chains: string[], prepared_transactions: [...],
 *    unknown_wait_count, hidden_count }`; of `hidden_count` sessions the role may not see whether they wait;
 * Root = session facts + `{ blocked_count, direct_count, in_cycle, is_prepared_transaction }`, most blocking first;
 * Waiter = session facts + `{ depth, blocked_by: int[], root_pids: int[], wait_seconds, lock_type, lock_mode, relation }`.
 */
export const postgresBlockingTree = postgresReadTool({
  name: 'postgres_blocking_tree',
  description:
    'Who blocks whom through locks: the root blockers (with pid, backend_start, state, ages in seconds, query) and the sessions waiting behind them with depth, wait time, lock and table. Use it first when sessions hang or wait for locks.',
  measures: [
    measureAt('longest_wait_seconds', {
      name: 'longest_lock_wait',
      label: 'longest wait for a lock',
      well: 'the longest wait for a lock is {bound}',
      unit: 's',
      healthy: 'at_most',
      bound: 5,
      intermittent: true,
      isPartial: (data) => hidesSessions(data) || (numberAt(data, 'unknown_wait_count') ?? 0) > 0,
    }),
    measureAt('blocked_count', {
      name: 'blocked_sessions',
      label: 'sessions waiting for a lock',
      well: '{bound} wait for a lock',
      unit: 'sessions',
      healthy: 'at_most',
      bound: 0,
      intermittent: true,
      isPartial: hidesSessions,
    }),
  ],
  input: z.strictObject({}),
  read: readTree,
});

async function readTree(session: PostgresSession): Promise<{ text: string; data: Json }> {
  const version = await serverVersion(session);
  const rows = await session.query(treeSql(version));
  const byPid = new Map(rows.map((row) => [Number(row['pid']), row]));
  const waiters = rows
    .filter((row) => row['waiting'] === true)
    .map((row) => ({ pid: Number(row['pid']), blockedBy: row['blocked_by'] as readonly number[] }))
    .filter((waiter) => waiter.blockedBy.length > 0);
  const graph = blockingGraph(waiters);
  const prepared = graph.roots.some((root) => root.pid === 0) ? await readPrepared(session) : [];
  const blockedBy = new Map(waiters.map((waiter) => [waiter.pid, waiter.blockedBy]));
  return present(graph, byPid, blockedBy, prepared, await hiddenSessions(session));
}

/** Only waiting sessions ask pg_blocking_pids(), which takes every lock partition for a moment. */
function treeSql(version: number): string {
  const since = version >= 140_000 ? 'coalesce(w.waitstart, a.query_start)' : 'a.query_start';
  return `
    WITH activity AS MATERIALIZED (
      SELECT a.*, CASE WHEN a.wait_event_type = 'Lock' THEN pg_blocking_pids(a.pid) ELSE '{}' END AS blocked_by
        FROM pg_stat_activity a),
    involved AS (
      SELECT pid FROM activity WHERE cardinality(blocked_by) > 0
      UNION SELECT unnest(blocked_by) FROM activity)
    SELECT ${sessionColumns}, cardinality(a.blocked_by) > 0 AS waiting, to_json(a.blocked_by) AS blocked_by,
           w.locktype AS lock_type, w.mode AS lock_mode, coalesce(${relationName('w.relation')}, w.relation::text) AS relation,
           CASE WHEN cardinality(a.blocked_by) > 0 THEN ${secondsSince(since)} END AS wait_seconds
      FROM activity a
      LEFT JOIN LATERAL (SELECT * FROM pg_locks l WHERE l.pid = a.pid AND NOT l.granted LIMIT 1) w ON true
     WHERE a.pid IN (SELECT pid FROM involved)
     ORDER BY wait_seconds DESC NULLS LAST`;
}

async function readPrepared(session: PostgresSession): Promise<readonly Row[]> {
  return session.query(`
    SELECT gid, owner::text AS owner, database::text AS database, ${secondsSince('prepared')} AS age_seconds
      FROM pg_prepared_xacts ORDER BY prepared LIMIT 20`);
}

function present(
  graph: BlockingGraph,
  byPid: ReadonlyMap<number, Row>,
  blockedBy: ReadonlyMap<number, readonly number[]>,
  prepared: readonly Row[],
  hidden: number,
): { text: string; data: Json } {
  const roots = graph.roots.map((root) => ({
    ...factsOf(byPid, root.pid),
    blocked_count: root.blocked.length,
    direct_count: root.direct,
    in_cycle: root.inCycle,
    is_prepared_transaction: root.pid === 0,
  }));
  const blocked = [...blockedBy].map(([pid, blockers]) => {
    const row = byPid.get(pid);
    return {
      ...factsOf(byPid, pid),
      depth: graph.depth.get(pid) ?? 1,
      blocked_by: [...blockers],
      root_pids: [...(graph.rootsOf.get(pid) ?? [])],
      wait_seconds: (row?.['wait_seconds'] ?? null) as number | null,
      lock_type: (row?.['lock_type'] ?? null) as string | null,
      lock_mode: (row?.['lock_mode'] ?? null) as string | null,
      relation: (row?.['relation'] ?? null) as string | null,
    };
  });
  const longest = Math.max(0, ...blocked.map((waiter) => waiter.wait_seconds ?? 0));
  const data = {
    blocked_count: blocked.length,
    root_count: roots.length,
    max_depth: Math.max(0, ...blocked.map((waiter) => waiter.depth)),
    longest_wait_seconds: longest,
    unknown_wait_count: blocked.filter((waiter) => waiter.wait_seconds === null).length,
    single_root: roots.length === 1,
    root: roots[0] ?? null,
    roots,
    blocked: blocked.slice(0, keptWaiters),
    chains: graph.chains.slice(0, 10).map((chain) => chain.map(nameOf).join(' → ')),
    prepared_transactions: prepared as unknown as Json,
    hidden_count: hidden,
  };
  if (blocked.length === 0)
    return output(
      [
        hidden === 0
          ? 'Nobody waits for a lock.'
          : 'Of the sessions that can be seen, none waits for a lock.',
        ...hiddenLine(hidden),
      ],
      data,
    );
  return output(
    [
      `${count(blocked.length, 'session')} blocked by ${count(roots.length, 'root blocker')}; longest wait ${age(longest)}, depth ${data.max_depth}.`,
      ...roots.slice(0, 5).flatMap(rootLines),
      ...more(roots.length, 5),
      ...prepared.map(
        (row) =>
          `prepared transaction "${oneLine(row['gid'], 60)}" of ${row['owner']} in ${row['database']}, age ${age(row['age_seconds'])}: it ends by COMMIT PREPARED or ROLLBACK PREPARED only`,
      ),
      ...table(
        ['waiter pid', 'waits', 'depth', 'blocked by', 'for', 'application', 'query'],
        blocked
          .slice(0, shownWaiters)
          .map((waiter) => [
            waiter.pid,
            age(waiter.wait_seconds),
            waiter.depth,
            waiter.blocked_by.map(nameOf).join(','),
            `${waiter.lock_mode ?? waiter.lock_type ?? '?'}${waiter.relation ? ` on ${waiter.relation}` : ''}`,
            waiter.application_name || '–',
            oneLine(waiter.query, 100),
          ]),
      ),
      ...more(blocked.length, shownWaiters),
      ...hiddenLine(hidden),
    ],
    data,
  );
}

function rootLines(
  root: SessionFacts & {
    blocked_count: number;
    direct_count: number;
    in_cycle: boolean;
    is_prepared_transaction: boolean;
  },
): readonly string[] {
  if (root.is_prepared_transaction)
    return [`root: a prepared transaction (no session) blocks ${root.blocked_count}`];
  const cycle = root.in_cycle
    ? ', in a cycle (a deadlock; PostgreSQL ends one of them after deadlock_timeout)'
    : '';
  return [
    `root: ${who(root)}${root.is_sentry ? " [Sentry's own]" : ''} blocks ${root.blocked_count} (${root.direct_count} directly)${cycle}`,
    `  backend_start ${root.backend_start}, ${root.state ?? root.backend_type}, in this state ${age(root.state_age_seconds)}, transaction ${age(root.xact_age_seconds)} old`,
    `  ${root.state === 'active' ? 'runs' : 'last ran'}: ${root.query}`,
  ];
}

function nameOf(pid: number): string {
  return pid === 0 ? 'prepared transaction' : String(pid);
}

/** A blocker may have ended between two looks, and a prepared transaction has no session: then only the pid is known. */
function factsOf(byPid: ReadonlyMap<number, Row>, pid: number): SessionFacts {
  return sessionFacts(byPid.get(pid) ?? { pid });
}
