/**
 * Literals (lower case ASCII) of which at least one stands in whatever a pattern matches, as rare ones as its text gives;
 * none when it names none. Read from the text of the pattern, so that nobody keeps a second list in step with it.
 */
export function needsOf({ source }: RegExp): readonly string[] {
  let at = 0;

  const either = (): readonly string[] => {
    let all = sequence();
    let certain = all.length > 0;
    while (source.charCodeAt(at) === OR) {
      at++;
      const one = sequence();
      certain &&= one.length > 0;
      if (certain) all = all.concat(one);
    }
    return certain ? all : NONE;
  };

  const sequence = (): readonly string[] => {
    let best = NONE;
    let run = '';
    const close = (): void => {
      if (run !== '') best = rarer(best, [run]);
      run = '';
    };
    while (at < source.length && source.charCodeAt(at) !== OR && source.charCodeAt(at) !== CLOSE) {
      const part = atom();
      const times = quantifier();
      if (typeof part === 'string') {
        if (times !== 'maybe') run += part;
        if (times !== 'once') close();
      } else {
        close();
        if (times !== 'maybe') best = rarer(best, part);
      }
    }
    close();
    return best;
  };

  /** One character, or what a group needs; nothing for everything else. */
  const atom = (): string | readonly string[] => {
    const code = source.charCodeAt(at);
    if (code === OPEN) return group();
    const char = source.charAt(at++);
    if (code === BRACKET) {
      while (source.charCodeAt(at) !== BRACKET_END) at += source.charCodeAt(at) === ESCAPE ? 2 : 1;
      at++;
      return NONE;
    }
    if (code === ESCAPE) {
      const escaped = source.charAt(at);
      at += escaped === 'u' ? 5 : escaped === 'x' ? 3 : 1;
      return /\w/.test(escaped) ? NONE : escaped;
    }
    return code > 126 || char === '.' || char === '^' || char === '$' ? NONE : char.toLowerCase();
  };

  const group = (): readonly string[] => {
    opener.lastIndex = at;
    const opened = opener.exec(source)?.[0] ?? '(';
    at += opened.length;
    const inside = either();
    at++;
    // What must stand around a match need not stand in it.
    return opened.endsWith('=') || opened.endsWith('!') ? NONE : inside;
  };

  const quantifier = (): 'once' | 'often' | 'maybe' => {
    if (!'?*+{'.includes(source.charAt(at))) return 'once';
    repeat.lastIndex = at;
    const sign = repeat.exec(source)?.[0] ?? '';
    at += sign.length;
    return sign === '' ? 'once' : sign.startsWith('+') || /^\{[1-9]/.test(sign) ? 'often' : 'maybe';
  };

  return either();
}

const NONE: readonly string[] = [];
const OPEN = 40;
const CLOSE = 41;
const OR = 124;
const BRACKET = 91;
const BRACKET_END = 93;
const ESCAPE = 92;
const opener = /\((?:\?(?:[:=!]|<[=!]|<\w+>))?/y;
const repeat = /(?:[?*+]|\{\d+(?:,\d*)?\})\??/y;

/** The literals of the two that are to be expected less often. */
export function rarer(some: readonly string[], others: readonly string[]): readonly string[] {
  return frequency(others) < frequency(some) ? others : some;
}

/** By length alone: a character more makes a literal about eight times as rare. */
function frequency(literals: readonly string[]): number {
  if (literals.length === 0) return Infinity;
  let sum = 0;
  for (const { length } of literals) sum += 8 ** -length;
  return sum;
}
