import { RE2JS, RE2JSException } from 're2js';
import { messageOf, type Refusal, refuse } from '../../core/errors.ts';

/**
 * Whether a line matches; time linear in the line's length, whatever the pattern and the line. Linear may still be seconds for
 * a long line: lines of others are tried by `matchLines`, or cut short before.
 */
export type LineMatcher = (line: string) => boolean;

export interface LinePattern {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** The pattern is plain text. */
  readonly literal: boolean;
}

const MAX_PATTERN = 200;
/** Instructions of the compiled pattern: the time per character grows with them where RE2 finds no faster way. */
const MAX_PROGRAM = 1_000;

/** A matcher of one line by RE2 (https://github.com/google/re2/wiki/Syntax), which has no look-around and no back references. */
export function lineMatcher({
  pattern,
  ignoreCase,
  literal,
}: LinePattern): { readonly ok: true; readonly matches: LineMatcher } | Refusal {
  if (pattern === '' || pattern.length > MAX_PATTERN)
    return refuse('PATTERN', `A pattern has 1 to ${MAX_PATTERN} characters.`);
  try {
    const compiled = RE2JS.compile(
      literal ? RE2JS.quote(pattern) : pattern,
      RE2JS.DOTALL | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0),
    );
    if (compiled.programSize() > MAX_PROGRAM) return refuse('PATTERN', 'The pattern repeats too much.');
    return { ok: true, matches: (line) => compiled.test(line) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const why = messageOf(error).replace('error parsing regexp: ', '');
    return refuse(
      'PATTERN',
      `The pattern cannot be used: ${why} (RE2 syntax: no look-around, no back references).`,
    );
  }
}
