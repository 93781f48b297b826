import { count } from '../../../core/count.ts';
import { measureAt, numberAt } from '../../../core/measure.ts';
import type { Json } from '../../../core/tool-call.ts';
import { age } from '../../format.ts';
import { output, postgresReadTool } from './postgres-read-tool.ts';
import {
  hiddenAmong,
  hiddenLine,
  hiddenSessions,
  sessionColumns,
  sessionFacts,
  who,
} from './session-columns.ts';
import { sessionKey } from './session-key.ts';

/**
 * One session. Data: `{ alive, gone, blocks_count, locks_held, hidden_count, others_hidden_count, session: facts|null }`. `gone`
 * is also true when the pid belongs to a later session now, and null when the role may not see whether it does; `hidden_count` is
 * 1 when it may not see what it does, and what waits for it may be among `others_hidden_count`.
 */
export const postgresSession = postgresReadTool({
  name: 'postgres_session',
  description:
    'One session by pid and backend_start: whether it still exists (result.gone), what it does, how old its transaction is, how many locks it holds and how many sessions wait for it.',
  measures: [
    {
      name: 'idle_in_transaction',
      label: 'time it has been idle in a transaction',
      well: 'it has been idle in a transaction for {bound}',
      unit: 's',
      healthy: 'at_most',
      bound: 0,
      ofOneThing: true,
      value: (data) => whileIn(data, 'state_age_seconds', (state) => state.startsWith('idle in transaction')),
    },
    {
      name: 'running_statement',
      label: 'time its statement has been running',
      well: 'its statement has run for {bound}',
      unit: 's',
      healthy: 'at_most',
      bound: 10,
      ofOneThing: true,
      value: (data) => whileIn(data, 'query_age_seconds', (state) => state === 'active'),
    },
    measureAt('blocks_count', {
      name: 'sessions_behind_it',
      label: 'sessions that wait for it',
      well: '{bound} wait for it',
      unit: 'sessions',
      healthy: 'at_most',
      bound: 0,
      intermittent: true,
      ofOneThing: true,
      isPartial: (data) => (numberAt(data, 'others_hidden_count') ?? 0) > 0,
    }),
  ],
  input: sessionKey,
  async read(session, { pid, backend_start }) {
    const [row] = await session.query(
      `SELECT ${sessionColumns},
              (SELECT count(*)::int FROM pg_locks l WHERE l.pid = a.pid AND l.granted) AS locks_held,
              (SELECT count(*)::int FROM pg_stat_activity o
                WHERE o.wait_event_type = 'Lock' AND a.pid = ANY (pg_blocking_pids(o.pid))) AS blocks_count
         FROM pg_stat_activity a
        WHERE a.pid = $1::int AND (a.backend_start = $2::timestamptz OR a.backend_start IS NULL)`,
      [pid, backend_start],
    );
    const others_hidden_count = await hiddenSessions(session);
    if (row !== undefined && row['backend_start'] === null) {
      const data = {
        alive: null,
        gone: null,
        blocks_count: null,
        locks_held: null,
        hidden_count: 1,
        others_hidden_count,
        session: null,
      };
      return output(
        [`There is a session with pid ${pid}, but since when cannot be seen.`, ...hiddenLine(1)],
        data,
      );
    }
    if (row === undefined) {
      const data = {
        alive: false,
        gone: true,
        blocks_count: 0,
        locks_held: 0,
        hidden_count: 0,
        others_hidden_count,
        session: null,
      };
      return output([`The session pid ${pid} started at ${backend_start} is gone.`], data);
    }
    const facts = sessionFacts(row);
    const data = {
      alive: true,
      gone: false,
      blocks_count: Number(row['blocks_count']),
      locks_held: Number(row['locks_held']),
      hidden_count: hiddenAmong([facts]),
      others_hidden_count,
      session: facts,
    };
    return output(
      [
        `${who(facts)} is alive: ${facts.state ?? facts.backend_type} for ${age(facts.state_age_seconds)}, transaction ${age(facts.xact_age_seconds)} old, holds ${count(data.locks_held, 'lock')}, ${count(data.blocks_count, 'session')} ${data.blocks_count === 1 ? 'waits' : 'wait'} for it.`,
        `${facts.state === 'active' ? 'runs' : 'last ran'}: ${facts.query}`,
        ...hiddenLine(data.hidden_count),
      ],
      data,
    );
  },
});

/** How old it is while the session is in such a state; 0 when it is in another or gone, null when that cannot be seen. */
function whileIn(data: Json, age: string, isSuch: (state: string) => boolean): number | null {
  const { gone, session } = data as {
    readonly gone?: unknown;
    readonly session?: Record<string, unknown> | null;
  };
  if (gone === true) return 0;
  const state = session?.['state'];
  if (typeof state !== 'string') return null;
  return isSuch(state) ? numberAt(data, `session.${age}`) : 0;
}
