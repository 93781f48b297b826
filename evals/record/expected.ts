import type { ExpectedAnswer } from './fault-case.ts';

/** A cause, and the words it takes to say it: one of each group. */
export const found = (root_cause: string, groups: readonly (readonly string[])[]): ExpectedAnswer => ({
  root_cause,
  verdict: 'cause_found',
  keyword_groups: groups,
});
export const healthy = (root_cause: string): ExpectedAnswer => ({ root_cause, verdict: 'healthy' });
export const undecidable = (root_cause: string): ExpectedAnswer => ({ root_cause, verdict: 'cannot_tell' });
