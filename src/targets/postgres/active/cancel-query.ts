import { OpsError } from '../../../core/errors.ts';
import { age } from '../../format.ts';
import { who } from '../read/session-columns.ts';
import type { SessionKey } from '../read/session-key.ts';
import type { PostgresSession } from '../system.ts';
import { postgresTool } from '../tool.ts';
import { lookAgain } from './action-outcome.ts';
import { type SessionGuard, sessionGuard } from './session-guard.ts';
import { onSession, sessionAbout, sessionEffect } from './session-object.ts';
import { objected, signalable, stateLines } from './session-state.ts';
import { signalSession } from './signal-session.ts';

/** The session with its transaction, and the very statement it runs: the next one is not what was approved. */
type CancelGuard = SessionGuard & { readonly query_start: string };

export const postgresCancelQuery = postgresTool.active<SessionKey, CancelGuard>({
  ...onSession,
  name: 'postgres_cancel_query',
  description:
    'Cancels the statement a session runs now (pg_cancel_backend); the session stays connected. For a runaway query. A session that is idle in transaction has nothing to cancel: terminate that one. Take pid and backend_start literally from a read tool.',
  verbs: {
    does: 'Cancel the query of',
    did: 'Cancelled the query of',
    button: 'Cancel the query',
    frees: 'What the query uses, and whoever waits for it.',
    costs: 'It fails; what its transaction has written is lost.',
  },
  command: ({ pid, backend_start }) =>
    `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = ${pid} AND backend_start = '${backend_start}'`,
  async preflight(context, input) {
    const state = await context.system.act((session) => signalable(session, input), context);
    const { facts } = state;
    const { query_start } = facts;
    if (facts.state !== 'active' || query_start === null)
      throw new OpsError(
        'POSTGRES_NOTHING_TO_CANCEL',
        `${who(facts)} is ${facts.state}: it runs no statement.`,
        {
          hint: 'If its open transaction is the problem, terminate the session instead.',
        },
      );
    return {
      guard: { ...sessionGuard(state), query_start },
      clock: state.clock,
      lines: stateLines(state),
      blastRadius: `One statement of ${who(facts)}, running for ${age(facts.query_age_seconds)}: it fails with error 57014, and its transaction with it${state.hasWritten ? ': what that has written is rolled back' : ', which has written nothing yet'}. The session stays.`,
      undo: 'Cannot be undone, but the client can run the statement again.',
      risk: state.hasWritten ? 'medium' : 'low',
      about: sessionAbout(state),
      ...objected(state),
    };
  },
  run: (context, _input, guard, deadline) =>
    signalSession(context, guard, deadline, {
      function: 'pg_cancel_backend',
      also: {
        sql: `a.query_start = $10::timestamptz AND a.state = 'active'`,
        params: [guard.query_start],
      },
      isThere: (session) => stillRuns(session, guard),
      says: {
        notSent: 'the statement had ended, its transaction has written since, or the deadline had passed.',
        ended: `The statement of session ${guard.pid} was cancelled.`,
        told: `Session ${guard.pid} was told to cancel`,
        stillThere: 'still runs',
        notRead: 'whether it did',
      },
    }),
  look: (context, _input, guard) =>
    lookAgain(context, async (session) => ((await stillRuns(session, guard)) ? 'not_done' : 'done')),
  effect: (key, { query_start }) =>
    sessionEffect(
      key,
      `result.gone == true || result.session.state != "active" || result.session.query_start != "${query_start}"`,
      `the statement of session ${key.pid} has ended`,
    ),
});

async function stillRuns(session: PostgresSession, guard: CancelGuard): Promise<boolean> {
  const rows = await session.query(
    `SELECT 1 FROM pg_stat_activity a
      WHERE a.pid = $1::int AND a.backend_start = $2::timestamptz AND a.query_start = $3::timestamptz AND a.state = 'active'`,
    [guard.pid, guard.backend_start, guard.query_start],
  );
  return rows.length > 0;
}
