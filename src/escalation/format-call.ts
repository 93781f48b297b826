import type { CallReason } from '../core/event.ts';

const sentences: Readonly<Record<CallReason, string>> = {
  unsolved: 'Sentry cannot fix it.',
  unacknowledged: 'Nobody has taken it.',
  approval_expiry: 'A fix waits for approval, and its time runs out.',
  failed_verification: 'The fix did not work.',
};

/** Why somebody is called, for whom a paging service tells of it. */
export const callSentence = (reason: CallReason): string => sentences[reason];
