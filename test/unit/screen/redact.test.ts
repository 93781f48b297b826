import { expect, test } from 'vitest';
import { redact, redactJson } from '../../../src/screen/redact.ts';

test.each([
  ['a database URL', 'postgres://shop:hunter2pass@db:5432/shop', 'hunter2pass'],
  ['a role statement', "ALTER ROLE app PASSWORD 'correct horse'", 'correct horse'],
  ['an AWS key', 'key AKIAIOSFODNN7EXAMPLE in use', 'AKIAIOSFODNN7EXAMPLE'],
  ['an assignment', 'password=supersecret1 host=db', 'supersecret1'],
  ['a bearer header', 'Authorization: Bearer abcdefghijklmnop1234', 'abcdefghijklmnop1234'],
])('hides %s', (_, text, secret) => {
  const shown = redact(text);
  expect(shown).not.toContain(secret);
  expect(shown).toContain('[redacted:');
  expect(redact(shown)).toBe(shown);
});

test('leaves operations text alone', () => {
  const text =
    "pid 4711 (shop_app) holds AccessExclusiveLock on public.orders for 312 s: UPDATE orders SET state = 'paid' WHERE id = 7";
  expect(redact(text)).toBe(text);
});

test('reaches into every string of a value', () => {
  expect(
    JSON.stringify(redactJson({ rows: [{ query: "CREATE ROLE x PASSWORD 'swordfish99'" }] })),
  ).not.toContain('swordfish99');
});
