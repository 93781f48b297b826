import { orThrow } from '../../../core/errors.ts';
import type { LogMatch } from '../../../core/watched-log.ts';
import { lineMatcher } from '../../../safety/grep/line-matcher.ts';
import type { HostLog } from '../config.ts';

/** Tries the patterns in their order; null: none fits. */
export function recordMatcher({ patterns }: HostLog): (text: string) => LogMatch | null {
  const compiled = patterns.map(({ match, name, severity }) => ({
    fits: matcherOf(match),
    pattern: name,
    severity,
  }));
  return (text) => {
    const found = compiled.find(({ fits }) => fits(text));
    return found ? { pattern: found.pattern, severity: found.severity, text } : null;
  };
}

export const matcherOf = (pattern: string) =>
  orThrow(lineMatcher(pattern, { ignoreCase: false, literal: false })).matches;
