import type { Severity } from '../core/alert.ts';
import { type Hours, isWithin } from '../core/hours.ts';
import {
  type EscalationConfig,
  escalationReasons,
  type Mention,
  type QuietHours,
} from './escalation-config.ts';

/** Who is called, when. Level 1 is the first. */
export type Ladder = Pick<
  EscalationConfig,
  'levels' | 'reasons' | 'unacknowledgedMs' | 'approvalExpiryMs' | 'quietHours'
>;

const UNACKNOWLEDGED_MS = 15 * 60_000;
const APPROVAL_EXPIRY_MS = 5 * 60_000;

/** Without a section `escalation`: one mention of whoever is on call by then, and nobody is paged. */
export const mentionOnly = (whom: () => readonly Mention[]): Ladder => ({
  get levels() {
    const mention = whom();
    return mention.length > 0 ? [{ afterMs: 0, mention, page: [] }] : [];
  },
  reasons: escalationReasons,
  unacknowledgedMs: UNACKNOWLEDGED_MS,
  approvalExpiryMs: APPROVAL_EXPIRY_MS,
  quietHours: [],
});

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** A week of days, and one for hours that overlap. */
const MOST_DAYS = 9;

/**
 * The moment itself, or when it is not quiet any more for this severity; null: it never ends. To the minute, by the clocks of the
 * hours' own time zones.
 */
export function afterQuiet(quietHours: readonly QuietHours[], severity: Severity, moment: Date): Date | null {
  let at = moment;
  for (let n = 0; n < MOST_DAYS * Math.max(1, quietHours.length); n += 1) {
    const hours = quietHours.find((each) => each.severities.includes(severity) && isWithin(each, at));
    if (!hours) return at;
    at = endOf(hours, at);
  }
  return null;
}

/** When the hours around a moment end; where a clock is put forward in them, an hour less is left. */
function endOf(hours: Hours, at: Date): Date {
  const left = (hours.to - minuteOf(hours, at) + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
  const whole = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS;
  const end = new Date(whole + left * MINUTE_MS);
  const hourLess = new Date(end.getTime() - 60 * MINUTE_MS);
  return hourLess > at && !isWithin(hours, hourLess) ? hourLess : end;
}

function minuteOf({ timezone }: Hours, at: Date): number {
  const text = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at);
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
}
