import { expect, test } from 'vitest';
import { isFound } from '../../../../bench/scanner-quality.ts';
import {
  generatedNegatives,
  generatedPositives,
  ROWS_PER_CATEGORY,
} from '../../../../bench/scanner-rows/rows.ts';
import { scan } from '../../../../src/safety/screen/scan.ts';

const SEEDS = [1, 2, 3];
const positives = SEEDS.flatMap((seed) => generatedPositives(seed));
const categories = [...new Set(positives.map(({ category }) => category))];
const rowsOf = (name: string) => positives.filter(({ category }) => category === name);

test('thirty rows and more of every category but injection, which has data of its own', () => {
  expect(categories.toSorted()).toEqual([
    'auth_header',
    'aws_key',
    'database_url',
    'github_token',
    'high_entropy',
    'jwt',
    'kubeconfig',
    'private_key',
    'raw_log',
  ]);
  for (const category of categories)
    expect(rowsOf(category).length).toBeGreaterThanOrEqual(ROWS_PER_CATEGORY * SEEDS.length);
  expect(generatedPositives(1)).toEqual(generatedPositives(1));
});

test.each(categories)('finds 97 of 100 and more of %s', (category) => {
  const rows = rowsOf(category);
  const missed = rows.filter((row) => !isFound(row));
  expect(missed.length / rows.length, missed.map(({ text }) => text).join('\n')).toBeLessThanOrEqual(0.03);
});

test('finds a secret in one of a hundred clean texts at most', () => {
  const rows = SEEDS.flatMap((seed) => generatedNegatives(seed));
  const mistaken = rows.filter(({ text }) => scan(text, { scope: 'conversation' }).blocked);
  expect(mistaken.length / rows.length, mistaken.map(({ text }) => text).join('\n')).toBeLessThanOrEqual(
    0.01,
  );
});
