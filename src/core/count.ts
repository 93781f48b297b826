/** `1 incident`, `3 incidents`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

const ordinalEnds = new Map([
  ['one', 'st'],
  ['two', 'nd'],
  ['few', 'rd'],
]);
const ordinalRules = new Intl.PluralRules('en', { type: 'ordinal' });

/** `1st`, `2nd`, `21st`. */
export const ordinal = (number: number): string =>
  `${number}${ordinalEnds.get(ordinalRules.select(number)) ?? 'th'}`;

/** More than so many are not counted for a screen: it would read all of a table that grows. */
const COUNTED = 1_000;

/** For `LIMIT`: one more than is told, so that "more" is known. */
export const COUNT_LIMIT = COUNTED + 1;

/** What was counted up to `COUNT_LIMIT`, or a sum of such: `7`, `1,000+`. */
export function upTo(number: number): string {
  return number > COUNTED ? `${COUNTED.toLocaleString('en')}+` : String(number);
}

/** `1 incident`, `3 incidents`, `1,000+ incidents`. */
export function countUpTo(number: number, noun: string): string {
  return `${upTo(number)} ${noun}${number === 1 ? '' : 's'}`;
}
