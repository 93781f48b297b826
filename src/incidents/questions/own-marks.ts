/**
 * What in a story is Sentry's own to be shown otherwise: a time of ours in its reader's zone, a command in fixed width. Nobody sees the mark,
 * and no value is changed for what it looks like: a time in a quoted log line stays as the log has it.
 */
const OWN = '\u2063';

/** A time of ours, as `2026-11-21T14:03:22Z`. */
export const moment = (iso: string): string => `${OWN}${iso.slice(0, 19)}Z`;

/** Exactly this, in fixed width. */
export const fixedWidth = (text: string): string => `${OWN}\`${text}\`${OWN}`;

/** As a pattern's source, each with what it stands for as its one group. */
export const OWN_TIME = String.raw`${OWN}(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)`;
export const OWN_CODE = `${OWN}\`([^\\n]+?)\`${OWN}`;

/** For who reads it as it is. */
export const withoutMarks = (text: string): string => text.replaceAll(OWN, '');

/** No value of it can begin a line of its own. */
export const onOneLine = (text: string): string => text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ');
