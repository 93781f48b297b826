import { expect, test } from 'vitest';
import { age, bytes, oneLine } from '../../../src/targets/format.ts';
import { exactNumber } from '../../../src/targets/postgres/connect/wire-types.ts';

test.each([
  [3.24, '3.2s'],
  [59.4, '59s'],
  [725, '12m 5s'],
  [15_000, '4h 10m'],
  [266_400, '3d 2h'],
  [null, '–'],
])('age of %s s is %s', (seconds, text) => expect(age(seconds)).toBe(text));

test.each([
  [512, '512 B'],
  [8_192, '8.0 KiB'],
  [-1_610_612_736, '-1.5 GiB'],
  ['9223372036854775807', '–'],
])('%s bytes are %s', (count, text) => expect(bytes(count)).toBe(text));

test('a query becomes one line, cut with what is missing, passwords masked', () => {
  expect(oneLine('SELECT\n\t1  ;')).toBe('SELECT 1 ;');
  expect(oneLine('x'.repeat(20), 10)).toBe('xxxxxxxxxx… (+10 characters)');
  expect(oneLine("ALTER ROLE a PASSWORD 'it''s secret' VALID UNTIL 'x'")).toBe(
    "ALTER ROLE a PASSWORD '***' VALID UNTIL 'x'",
  );
  expect(oneLine("ALTER ROLE a PASSWORD 'cut by the ser")).toBe("ALTER ROLE a PASSWORD '***'");
});

test.each([
  ['12', 12],
  ['9007199254740992', '9007199254740992'],
  ['0.1', 0.1],
  ['1.50', 1.5],
  ['12345678901234.5678', '12345678901234.5678'],
  ['NaN', 'NaN'],
])("the wire's %s arrives as %s", (text, value) => expect(exactNumber(text)).toBe(value));
