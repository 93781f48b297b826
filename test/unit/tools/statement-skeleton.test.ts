import fc from 'fast-check';
import { expect, test } from 'vitest';
import { explainable } from '../../../src/targets/postgres/read/explainable.ts';
import {
  filled,
  statementSkeleton,
  stringIn,
} from '../../../src/targets/postgres/read/statement-skeleton.ts';

const text = (sql: string, share = true): string | undefined => {
  const skeleton = statementSkeleton(sql, share);
  return (
    skeleton &&
    filled(skeleton, (hole) => `$${hole + 1}`)
      .replace(/\s+/g, ' ')
      .trim()
  );
};

test.each([
  ["SELECT 'a', 'it''s', 1", 'SELECT $1 , $2 , 1'],
  ["SELECT 'a' = 'a'", 'SELECT $1 = $1'],
  ["SELECT $2, 'x', $1, $2", 'SELECT $1 , $2 , $3 , $1'],
  ['SELECT $$a$$, $t$ it\'s $x$ $t$ -- "no\n', 'SELECT $1 , $2'],
  ["SELECT /* 'a' */ E'\\n', n'b'", 'SELECT $1 , $2'],
  ["WHERE at > now() - interval '5 minutes'", 'WHERE at > now() - CAST($1 AS pg_catalog.interval)'],
  ["WHERE at > TIMESTAMP  WITH TIME ZONE '2026-01-01'", 'WHERE at > CAST($1 AS pg_catalog.timestamptz)'],
  [`SELECT "it's", "a""b" FROM t`, undefined],
  ['SELECT "a""b" FROM t', 'SELECT "a""b" FROM t'],
  ["SELECT x.date 'a'", 'SELECT x.date $1'],
  ["SELECT 'never closed", undefined],
  ['SELECT $a$ never closed', undefined],
  ['SELECT /* never closed', undefined],
  ['SELECT a$b FROM t', undefined],
])('%s', (sql, expected) => expect(text(sql)).toBe(expected));

test('equal strings are two holes when they have to be', () => {
  expect(text("SELECT 'a' = 'a'", false)).toBe('SELECT $1 = $2');
});

test('whatever stands in a statement, nothing that opens a string or a comment is left in it', () => {
  const part = fc.constantFrom(
    "'",
    "''",
    '"',
    '$',
    '$$',
    '$a$',
    '--',
    '/*',
    '*/',
    '\\',
    'E',
    'U&',
    'a',
    '1',
    '$1',
    ' ',
    '\n',
    'interval ',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const skeleton = statementSkeleton(parts.join(''), true);
      if (skeleton === undefined) return;
      expect(filled(skeleton, () => 'x')).not.toMatch(/'|--|\/\*|\$(?!\d)/);
    }),
  );
});

test('a string put back can end nothing but itself', () => {
  const plain = statementSkeleton("SELECT 'a'", true);
  const quoted = statementSkeleton(`SELECT "b" = 'a'`, true);
  if (!plain || !quoted) throw new Error('no skeleton');
  expect(stringIn(plain, `it's "x"`)).toBe(`'it''s "x"'`);
  expect(stringIn(quoted, 'x"y')).toBeNull();
  expect(stringIn(quoted, "it's")).toBe(`'it''s'`);
});

test('a statement so long that reading it takes its time is none to explain', () => {
  expect(explainable(`SELECT ${'1,'.repeat(20_000)}1`, Number.MAX_SAFE_INTEGER)).toEqual({
    why: 'it has more than 32768 characters',
  });
});
