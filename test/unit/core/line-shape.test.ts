import { expect, test } from 'vitest';
import { lineShape } from '../../../src/core/line-shape.ts';

test.each([
  ['2026-11-23T10:00:01.123Z ERROR order 17 failed', '2026-11-24T11:20:31Z ERROR order 99812 failed'],
  ['Nov 23 10:00:01 web app[123]: ERROR x', 'Dec  1 23:59:59 web app[9]: ERROR x'],
  ['[Mon Nov 23 10:00:01 2026] ERROR x', '[Tue Dec  1 10:00:01 2026] ERROR x'],
  ['user 3f2c1a9e-6b1d-4c7a-9f00-1234567890ab gone', 'user 00000000-aaaa-4bbb-8ccc-fedcba987654 gone'],
  ['at 0xdeadbeef in 10.0.0.1:5432', 'at 0x12ab in 192.168.1.20:80'],
  ['commit deadbeef broken', 'commit 0badcafe broken'],
  ["column 'price' is null", "column 'stock level' is null"],
  ['relation "orders" does not exist', 'relation "it\'s" does not exist'],
  ['took 12ms, 3 times', 'took 9876ms, 14 times'],
  ['\u001b[31mERROR\u001b[0m disk sda1 full', 'ERROR disk sdb2 full'],
  ['ERROR failed\n  at a.js:1', 'ERROR failed\n  at b.js:2'],
])('is the same of %j and %j', (one, other) => {
  expect(lineShape(one)).toBe(lineShape(other));
});

test.each([
  ['ERROR order 17 failed', 'ERROR order 17 refused'],
  ["can't read the file", "can't write the file"],
  ['connection to orders lost', 'connection to users lost'],
])('tells %j from %j', (one, other) => {
  expect(lineShape(one)).not.toBe(lineShape(other));
});

test('of a line of any length is short, and soon made', () => {
  expect(lineShape(`${'"'.repeat(100_000)}${"a'".repeat(100_000)}`).length).toBeLessThan(301);
});
