import { setTimeout as sleep } from 'node:timers/promises';
import type { ActionOutcome } from '../../../core/action.ts';
import { OpsError } from '../../../core/errors.ts';
import type { Deadline, ToolContext } from '../../../tools/define.ts';
import { isOwnSession } from '../read/session-columns.ts';
import type { PostgresSession, PostgresSystem, Row } from '../system.ts';
import { beforeDeadline, clockOf, outcomeOfThrow } from './action-outcome.ts';
import { guardParams, type SessionGuard, sameSession } from './session-guard.ts';

interface SessionSignal {
  readonly function: 'pg_cancel_backend' | 'pg_terminate_backend';
  /** What more must be so of `a`, pg_stat_activity, with the parameters $10 and following. */
  readonly also?: { readonly sql: string; readonly params: readonly unknown[] };
  /** Asked after the signal, until what it was to end is no longer there. */
  isThere(session: PostgresSession): Promise<boolean>;
  readonly says: {
    readonly notSent: string;
    readonly ended: string;
    /** Begins the sentence about what was told, and ends it where it stands there still, or could not be read. */
    readonly told: string;
    readonly stillThere: string;
    readonly notRead: string;
  };
}

/** Signals one session, if it is as the guard has it. */
export async function signalSession(
  context: ToolContext<PostgresSystem>,
  guard: SessionGuard,
  deadline: Deadline,
  signal: SessionSignal,
): Promise<ActionOutcome> {
  const { sql, params } = signal.also ?? { sql: 'true', params: [] };
  const clock = clockOf(deadline);
  return context.system.act(async (session) => {
    let rows: readonly Row[];
    try {
      // Guard and deadline stand in the statement that has the effect: between two statements the pid could change hands.
      rows = await session.query(
        `SELECT ${signal.function}(a.pid) AS signalled
           FROM pg_stat_activity a
          WHERE ${sameSession} AND ${sql}
            AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
            AND NOT ${isOwnSession('a')}
            AND ${beforeDeadline('$8', '$9')}`,
        [...guardParams(guard), clock, deadline.withinMs, ...params],
      );
    } catch (error) {
      return outcomeOfThrow(error);
    }
    return outcomeOfSignal(session, rows[0]?.['signalled'], signal);
  }, context);
}

/** How long to wait for what was signalled to end. */
const ENDS_WITHIN_MS = 5_000;

/** `signalled`: as PostgreSQL's function answers; undefined when the guard let no session through. */
async function outcomeOfSignal(
  session: PostgresSession,
  signalled: unknown,
  { isThere, says }: SessionSignal,
): Promise<ActionOutcome> {
  if (signalled === undefined) return { kind: 'failed', text: `Nothing was done: ${says.notSent}` };
  if (signalled !== true)
    return { kind: 'failed', text: 'PostgreSQL could not send the signal; the session had just ended.' };
  const from = performance.now();
  try {
    while (performance.now() - from < ENDS_WITHIN_MS) {
      if (!(await isThere(session))) return { kind: 'succeeded', text: says.ended };
      await sleep(100);
    }
  } catch (error) {
    // The signal is out; not being able to watch does not take it back.
    if (!(error instanceof OpsError)) throw error;
    return { kind: 'succeeded', text: `${says.told}; ${says.notRead} could not be read: ${error.message}` };
  }
  return {
    kind: 'succeeded',
    text: `${says.told} and ${says.stillThere} after ${ENDS_WITHIN_MS / 1_000} s.`,
  };
}
