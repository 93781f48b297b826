import fc from 'fast-check';
import { expect, test } from 'vitest';
import { severities } from '../../src/core/alert.ts';
import { type Condition, formatConditions, readConditions } from '../../src/core/matcher.ts';
import { readMatcher, wholeMatcher } from '../../src/safety/alert-matcher.ts';
import { cpuClock } from '../support/cpu-clock.ts';
import { fuzzRuns } from './runs.ts';

const text = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: 'binary', maxLength: 60 }));
const label = fc.oneof(
  text,
  fc.constantFrom('alertname', 'severity', 'target', '__proto__', 'constructor', 'service', '[redacted:x]'),
);
const condition = fc.record({
  name: label.filter((name) => name !== ''),
  op: fc.constantFrom<Condition['op']>('=', '!=', '=~', '!~'),
  value: fc.oneof(
    text,
    fc.constantFrom('critical', '.*', '(a|b)+', '(?i)x', '\\d', '[redacted:x]', 'a{1000}'),
  ),
});

test('conditions that are written out are read as they were', () => {
  fc.assert(
    fc.property(fc.array(condition, { minLength: 1, maxLength: 5 }), fc.boolean(), (conditions, braced) => {
      const written = formatConditions(conditions);
      if (written.length > 900) return;
      const read = readConditions(braced ? `{${written}}` : `${written} 2h because`);
      expect(read).toMatchObject({ ok: true, conditions });
      if (read.ok && !braced) expect(`${written} 2h because`.slice(read.end)).toBe(' 2h because');
    }),
    { numRuns: fuzzRuns },
  );
});

test('whatever is typed is read or refused in words, at once, and fits or not', () => {
  const typed = fc.oneof(
    text,
    fc
      .array(
        fc.oneof(
          label,
          fc.constantFrom(
            '{',
            '}',
            ',',
            '=',
            '!=',
            '=~',
            '!~',
            '"',
            '“',
            '”',
            '\\',
            ' ',
            '2h',
            '\n',
            '\0',
            '(',
            'a*',
          ),
        ),
        { maxLength: 30 },
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(
      typed,
      fc.dictionary(label, text),
      fc.constantFrom(...severities),
      (given, labels, severity) => {
        const cpuMs = cpuClock();
        const read = readMatcher(given);
        if (read.ok) {
          expect(read.end).toBeLessThanOrEqual(given.length);
          const facts = { alertname: 'a', severity, target: '', source: 's', title: given, labels };
          const fits = read.matcher.matches(facts);
          const again = wholeMatcher(read.matcher.text);
          if (read.matcher.text !== '') expect(again.ok && again.matcher.matches(facts)).toBe(fits);
          if (read.matcher.severities?.includes(severity) === false) expect(fits).toBe(false);
        } else expect(read.reason).toMatch(/[.)]$/);
        expect(cpuMs()).toBeLessThan(3_000);
      },
    ),
    { numRuns: fuzzRuns },
  );
});

test('a hidden value fits no condition on it', () => {
  fc.assert(
    fc.property(condition, text, text, ({ name, op, value }, before, after) => {
      const read = wholeMatcher(formatConditions([{ name: `l${name}`, op, value }]));
      if (!read.ok) return;
      const labels = { [`l${name}`]: `${before}[redacted:api-key#2]${after}` };
      const facts = { alertname: '', severity: 'info' as const, target: '', source: '', title: '', labels };
      expect(read.matcher.matches(facts)).toBe(false);
    }),
    { numRuns: fuzzRuns },
  );
});
