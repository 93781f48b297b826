import { RE2JS } from 're2js';

/**
 * What JSONata needs of a `RegExp`, by RE2: a pattern takes linear time, whatever text a sender puts before it. Look-around and
 * back references throw when it is made.
 */
export class LinearRegExp {
  lastIndex = 0;
  readonly #pattern: RE2JS;

  constructor({ source, flags }: RegExp) {
    const ignoreCase = flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0;
    const multiline = flags.includes('m') ? RE2JS.MULTILINE : 0;
    this.#pattern = RE2JS.compile(source, ignoreCase | multiline);
  }

  /** The next match from `lastIndex`, as `RegExp` with the flag `g`. */
  exec(text: string): RegExpExecArray | null {
    const matcher = this.#pattern.matcher(text);
    if (!matcher.find(this.lastIndex)) {
      this.lastIndex = 0;
      return null;
    }
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, n) => matcher.group(n) ?? undefined);
    this.lastIndex = matcher.end();
    return Object.assign(groups, { index: matcher.start(), input: text }) as RegExpExecArray;
  }
}
