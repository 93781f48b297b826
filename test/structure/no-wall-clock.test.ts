import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const tests = join(import.meta.dirname, '..');

/** A clock that is compared tells how busy the machine is, not whether the code is right. */
const timed =
  /expect\([^;]*\b(?:Date\.now|performance\.now|process\.hrtime)\b[^;]*\.toBe(?:Less|Greater)Than/;
/** A duration of its own by any name. */
const named =
  /expect\([^;]*\b(?:elapsed|took|duration|wall)(?:Ms|Seconds|_ms)?\)*\.(?:not\.)?toBe(?:Less|Greater)Than/i;

test('no test asserts how long something took', () => {
  const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.test.ts'),
  );
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((path) =>
    readFileSync(join(tests, path), 'utf8')
      .split(/;\n/)
      .filter((statement) => timed.test(statement) || named.test(statement))
      .map((statement) => `${path}: ${statement.trim()}`),
  );
  expect(found).toEqual([]);
});
