import { closestName } from '../core/closest-name.ts';

/** What commander says of an argument or an option that it does not take, without its own terms; all else as it stands. */
export function usageInWords(text: string): string {
  const [, given = '', argument = '', why = ''] = ARGUMENT.exec(text) ?? [];
  if (argument !== '') return `error: ${argument} "${given}": ${expected(given, why)}\n`;
  const [, option = '', value = '', reason = ''] = OPTION.exec(text) ?? [];
  if (option !== '') return `error: ${option}: ${expected(value, reason)}, not "${value}"\n`;
  return text;
}

const ARGUMENT = /^error: command-argument value '(.*)' is invalid for argument '(.*)'\. (.*)\n$/s;
const OPTION = /^error: option '(.*)' argument '(.*)' is invalid\. (.*)\n$/s;

function expected(given: string, why: string): string {
  const [, choices] = /^Allowed choices are (.*)\.$/.exec(why) ?? [];
  if (choices === undefined) return why;
  const meant = closestName(given, choices.split(', '));
  return `expected one of ${choices}${meant === null ? '' : ` (did you mean ${meant}?)`}`;
}
