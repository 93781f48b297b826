import type { ActionOutcome } from '../../../core/action.ts';
import { messageOf, OpsError } from '../../../core/errors.ts';
import type { Deadline, ToolContext } from '../../../tools/define.ts';
import type { PostgresSession, PostgresSystem } from '../system.ts';

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

/** What a look in the target after a run finds; `cannot_tell` where the target does not answer. */
export async function lookAgain(
  context: ToolContext<PostgresSystem>,
  look: (session: PostgresSession) => Promise<Looked>,
): Promise<Looked> {
  try {
    return await context.system.act(look, context);
  } catch (error) {
    if (error instanceof OpsError) return 'cannot_tell';
    throw error;
  }
}

type Looked = 'done' | 'not_done' | 'cannot_tell';
