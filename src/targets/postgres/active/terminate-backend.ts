import { count } from '../../../core/count.ts';
import { who } from '../read/session-columns.ts';
import type { SessionKey } from '../read/session-key.ts';
import { postgresTool } from '../tool.ts';
import { lookAgain } from './action-outcome.ts';
import { type SessionGuard, sessionGuard } from './session-guard.ts';
import { onSession, sessionAbout, sessionEffect } from './session-object.ts';
import { isAlive, objected, type SessionState, signalable, stateLines } from './session-state.ts';
import { signalSession } from './signal-session.ts';

/**
 * Its guard is the session by what its card calls it, the transaction it was in (null: none), and whether that has written,
 * which is what its end takes back. A session that went on to other work, or has begun to write, is not what was approved.
 */
export const postgresTerminateBackend = postgresTool.active<SessionKey, SessionGuard>({
  ...onSession,
  name: 'postgres_terminate_backend',
  description:
    'Ends one client session (pg_terminate_backend): its open transaction is rolled back and its locks are released. For a root blocker, an idle-in-transaction session or a leaked connection; for a running statement prefer postgres_cancel_query. Take pid and backend_start literally from a read tool.',
  verbs: {
    does: 'End',
    did: 'Ended',
    button: 'End the session',
    frees: 'Its locks and its connection.',
    costs: 'Its open transaction is rolled back; its client reconnects.',
  },
  command: ({ pid, backend_start }) =>
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ${pid} AND backend_start = '${backend_start}'`,
  async preflight(context, input) {
    const state = await context.system.act((session) => signalable(session, input), context);
    return {
      guard: sessionGuard(state),
      clock: state.clock,
      lines: stateLines(state),
      blastRadius: blastRadius(state),
      undo: 'Cannot be undone: the session is closed and its uncommitted work is lost. The client can connect again.',
      risk: state.hasWritten ? 'medium' : 'low',
      about: sessionAbout(state),
      ...objected(state),
    };
  },
  run: (context, input, guard, deadline) =>
    signalSession(context, guard, deadline, {
      function: 'pg_terminate_backend',
      isThere: (session) => isAlive(session, input),
      says: {
        notSent:
          'the session is gone, has gone on to other work, has written since, or the deadline had passed.',
        ended: `Session ${input.pid} was terminated and is gone.`,
        told: `Session ${input.pid} was told to end`,
        stillThere: 'is still there',
        notRead: 'whether it is gone',
      },
    }),
  look: (context, input) =>
    lookAgain(context, async (session) => ((await isAlive(session, input)) ? 'not_done' : 'done')),
  effect: (key) => sessionEffect(key, 'result.gone == true', `session ${key.pid} is gone`),
});

function blastRadius(state: SessionState): string {
  const work =
    state.facts.xact_start === null
      ? 'It is in no transaction, so no work is lost.'
      : state.hasWritten
        ? 'It has written in its open transaction: that work is rolled back.'
        : 'Its open transaction has written nothing yet.';
  const relief =
    state.waiters.length === 0
      ? ''
      : ` ${count(state.waiters.length, 'session')} waiting behind it can go on.`;
  return `One session: ${who(state.facts)}. ${work} Its client gets error 57P01 and must connect again.${relief}`;
}
