import type { Action } from '../../core/action.ts';
import { formatSetter } from '../../core/switch-scope.ts';
import { moment } from './own-marks.ts';

/** `isPlan`: what became of it stands with its steps. */
export function decisionOf(action: Action, isPlan = false): string {
  const when = action.decidedAt ? ` at ${moment(action.decidedAt)}` : '';
  const because = action.decisionReason ? `, because: ${action.decisionReason}` : '';
  const who = action.decidedBy ? personOf(action.decidedBy) : 'nobody';
  switch (action.state) {
    case 'proposed':
      return action.auditOnly
        ? 'would propose (nothing may be changed now)'
        : `waits for a decision until ${moment(action.expiresAt)}`;
    case 'denied':
      return `denied by ${who}${when}${because}`;
    case 'expired':
      return `expired at ${moment(action.expiresAt)}: nothing was run`;
    case 'void':
      return 'void: nothing was run';
    case 'queued':
      return 'waits for the step before it';
    case 'skipped':
      return 'skipped: not run';
    case 'approved':
    case 'started':
    case 'succeeded':
    case 'failed':
    case 'unknown':
      return `approved by ${who}${when}${isPlan ? '' : `; ${action.state}`}`;
    default: {
      const never: never = action.state;
      return never;
    }
  }
}

/** A rule of the policy decides too. */
export const personOf = (by: string): string => (by === 'policy' ? 'a rule of the policy' : formatSetter(by));
