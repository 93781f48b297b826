import { expect, test } from 'vitest';
import { explainable } from '../../../src/targets/postgres/read/explainable.ts';

test.each([
  'SELECT 1',
  '  select 1;',
  '/* app:x */ -- y\n WITH a AS (SELECT 1) TABLE a',
  'UPDATE t SET a = 1',
  '(SELECT 1) UNION SELECT 2',
])('takes %s', (sql) => expect(explainable(sql, 1_024)).toHaveProperty('sql'));

test.each([
  'ANALYZE SELECT f()',
  'EXPLAIN ANALYZE SELECT 1',
  'VACUUM',
  '(ANALYZE) SELECT 1',
  'DO $$ BEGIN END $$',
  'CREATE TABLE x AS SELECT 1',
  'COMMIT',
  '',
  '/* only a comment */',
  'selection',
])('refuses %s', (sql) => expect(explainable(sql, 1_024)).toHaveProperty('why'));

test('refuses a statement the server has cut', () => {
  expect(explainable(`SELECT '${'x'.repeat(1_015)}`, 1_024)).toEqual({
    why: expect.stringContaining('1024'),
  });
});
