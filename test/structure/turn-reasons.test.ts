import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STILL_SO_TURN } from '../../src/incidents/move.ts';

const root = join(import.meta.dirname, '../..');
const textsIn = (folder: string, end: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(end))
    .map((path) => readFileSync(join(root, folder, path), 'utf8'));

test('no two kinds of turns share their reason: the one would be taken for the other, and never come', () => {
  const reasons = textsIn('src', '.ts').flatMap((text) =>
    [...text.matchAll(/\b\w+_TURN = '([^']+)'/g)].map(([, reason]) => reason),
  );
  expect(reasons.length).toBeGreaterThan(8);
  expect(reasons.filter((reason, at) => reasons.indexOf(reason) !== at)).toEqual([]);
});

test('what the database asks for after news is the turn that looks whether it is still so', () => {
  const asked = textsIn('prisma/migrations', '.sql').filter((text) => text.includes(`'${STILL_SO_TURN}'`));
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain(`sentry_enqueue_turns(v_waiting, '${STILL_SO_TURN}')`);
});
