import { setTimeout as sleep } from 'node:timers/promises';
import type { ActionOutcome } from '../../../core/action.ts';
import { messageOf, OpsError } from '../../../core/errors.ts';
import type { Deadline } from '../../../tools/define.ts';

/** SQL that is true until the deadline, in the target's own clock; takes two parameters, the clock's text and the ms. */
export function beforeDeadline(clockParam: string, withinParam: string): string {
  return `clock_timestamp() < ${clockParam}::timestamptz + ${withinParam}::float8 * interval '1 millisecond'`;
}

/** An active tool of PostgreSQL always reads the target's clock in its preflight. Throws before anything is done. */
export function clockOf(deadline: Deadline): string {
  if (deadline.clock !== null) return deadline.clock;
  throw new OpsError('POSTGRES_NO_CLOCK', "the run was given no reading of the target's clock", {
    hint: 'This is a mistake in Sentry: run the pre-flight first and pass its clock on.',
  });
}

/**
 * What a throw from the effecting statement means: an answer of the server with an SQLSTATE of its own is a certain
 * *no effect*; a lost connection, an abort or a timeout leaves it open.
 */
export function outcomeOfThrow(error: unknown): ActionOutcome {
  const text = messageOf(error);
  if (error instanceof OpsError && certain.test(error.code))
    return { kind: 'failed', text: `${text}. ${error.hint}` };
  return { kind: 'unknown', text };
}

/** Refused statements (22, 42, 55, 25 and the like); not class 08, 57, XX or what postgres.js itself says. */
const certain = /^POSTGRES_(0A|2[0-9A-F]|3[0-9A-F]|4[0-9]|53|54|55)[0-9A-Z]{3}$/;

/** How long to wait for what was signalled to end. */
const ENDS_WITHIN_MS = 5_000;

/**
 * How a signal to a session ended. `signalled`: as `pg_cancel_backend` and `pg_terminate_backend` answer; undefined when the
 * guard let no session through. `isThere` is asked until it no longer is.
 */
export async function outcomeOfSignal(
  signalled: unknown,
  isThere: () => Promise<boolean>,
  says: {
    readonly notSent: string;
    readonly ended: string;
    /** Begins the sentence about what was told, and ends it where it stands there still, or could not be read. */
    readonly told: string;
    readonly stillThere: string;
    readonly notRead: string;
  },
): Promise<ActionOutcome> {
  if (signalled === undefined) return { kind: 'failed', text: `Nothing was done: ${says.notSent}` };
  if (signalled !== true)
    return { kind: 'failed', text: 'PostgreSQL could not send the signal; the session had just ended.' };
  const from = performance.now();
  try {
    while (performance.now() - from < ENDS_WITHIN_MS) {
      if (!(await isThere())) return { kind: 'succeeded', text: says.ended };
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
