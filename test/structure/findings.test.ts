import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '..');
const findings = JSON.parse(readFileSync(join(folder, 'findings.json'), 'utf8')) as Record<string, string>;
/** The titles of all tests, which stand in the code as text. */
const titles = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .flatMap((path) => readFileSync(join(folder, path), 'utf8').match(/\[[A-Z]-?[\w-]+\]/g) ?? []);

test.each(Object.entries(findings))('%s has a test of it: %s', (id) => {
  expect(titles).toContain(`[${id}]`);
});
