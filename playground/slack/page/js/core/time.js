import { startOfDay } from '../text/entities.js';

/** Times as a chat client writes them, in the reader's own zone. */

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'long', month: 'long', day: 'numeric' });
const SHORT_DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** @param {string} ts a Slack timestamp, "1700000000.000100" */
export function dateOf(ts) {
  return new Date(Number(ts) * 1000);
}

/** @param {string} ts */
export function clock(ts) {
  return CLOCK.format(dateOf(ts));
}

/** Without AM and PM, for the narrow column beside a message. @param {string} ts */
export function shortClock(ts) {
  const parts = CLOCK.formatToParts(dateOf(ts));
  return parts
    .filter((part) => part.type !== 'dayPeriod')
    .map((part) => part.value)
    .join('')
    .trim();
}

/** @param {string} ts */
export function fullTime(ts) {
  return FULL.format(dateOf(ts));
}

/** @param {string} ts */
export function dayLabel(ts) {
  const days = daysAgo(ts);
  return days === 0 ? 'Today' : days === 1 ? 'Yesterday' : DAY.format(dateOf(ts));
}

/** @param {string} ts */
export function dayAndClock(ts) {
  const days = daysAgo(ts);
  const day = days === 0 ? 'today' : days === 1 ? 'yesterday' : SHORT_DAY.format(dateOf(ts));
  return `${day} at ${clock(ts)}`;
}

/** @param {string} ts */
function daysAgo(ts) {
  return Math.round((startOfDay(new Date()) - startOfDay(dateOf(ts))) / 86_400_000);
}
