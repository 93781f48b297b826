import { messageOf, OpsError } from '../core/errors.ts';
import { isOutage } from '../core/is-outage.ts';

/**
 * A fault of a tool or of the system it reaches: the call's outcome. What it calls unrecorded is its own fault all the same, or a target could
 * have a turn made again for ever.
 */
export const faultOfTool = (error: unknown): OpsError =>
  error instanceof OpsError && error.code !== 'NOT_RECORDED'
    ? error
    : new OpsError('TOOL_FAILED', messageOf(error), { hint: '', cause: error });

/** Nobody may act on what is not on record; the call can be made again. */
export const notRecorded = (error: unknown): OpsError =>
  error instanceof OpsError && error.code === 'NOT_RECORDED'
    ? error
    : new OpsError('NOT_RECORDED', `The call could not be put on record: ${messageOf(error)}`, {
        hint: "Check Sentry's own database; the call is made again when it answers.",
        retryable: true,
        cause: error,
      });

/** Whether Sentry's own database is at fault: what a tool or its system throws is an OpsError of another code. */
export const isOfRecord = (error: unknown): boolean =>
  error instanceof OpsError ? error.code === 'NOT_RECORDED' : isOutage(error);

/** Work on the record alone. */
export async function onRecord<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw notRecorded(error);
  }
}

/** Work that a tool does, or that reaches a system. */
export async function onSystem<T>(work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw faultOfTool(error);
  }
}
