import type { ActionOutcome } from '../../core/action.ts';
import { messageOf, OpsError } from '../../core/errors.ts';

export const nothing = (why: string): ActionOutcome => ({ kind: 'failed', text: `Nothing was done: ${why}` });

/** An answer that refuses is a certain *no effect*; silence, and an error or an odd answer of the server, leave it open. */
export function outcomeOf(error: unknown): ActionOutcome {
  const text = messageOf(error);
  return error instanceof OpsError && /^ALERTMANAGER_(?:DENIED|REDIRECTED|REFUSED|4\d\d)$/.test(error.code)
    ? nothing(text)
    : { kind: 'unknown', text };
}
