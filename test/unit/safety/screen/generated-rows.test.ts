import { expect, test } from 'vitest';
import { isFound } from '../../../../bench/scanner-quality.ts';
import {
  generatedNegatives,
  generatedPositives,
  ROWS_PER_CATEGORY,
} from '../../../../bench/scanner-rows/rows.ts';
import { redact } from '../../../../src/safety/screen/redact.ts';
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
    'password',
    'private_key',
    'raw_log',
  ]);
  for (const category of categories)
    expect(rowsOf(category).length).toBeGreaterThanOrEqual(ROWS_PER_CATEGORY * SEEDS.length);
  expect(generatedPositives(1)).toEqual(generatedPositives(1));
});

test.each(categories)('finds 97 of 100 and more of %s [S-secrets]', (category) => {
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

test('leaves no copy of what it finds, and redacts nothing twice [S-secrets]', () => {
  const rows = positives.filter((row) => row.category !== 'raw_log' && isFound(row));
  const left = rows.filter(({ text, secrets }) => {
    const shown = redact(`${text}\n\nseen again: ${secrets.filter(isDistinctive).join(' and ')}`);
    return (
      redact(shown) !== shown || secrets.some((secret) => isDistinctive(secret) && shown.includes(secret))
    );
  });
  expect(left.map(({ text }) => text)).toEqual([]);
});

/** A word that is a password is a name elsewhere. */
const isDistinctive = (secret: string) => secret.length >= 6 && /\d/.test(secret);

test('what was JSON is JSON, and has its names [S-secrets]', () => {
  const rows = positives.flatMap(({ text }) => parsed(text) ?? []);
  expect(rows.length).toBeGreaterThan(30);
  for (const { text, value } of rows) {
    const shown = parsed(redact(text));
    expect(shown, redact(text)).toBeDefined();
    expect(namesIn(shown?.value), redact(text)).toEqual(namesIn(value));
  }
});

function parsed(text: string): { readonly text: string; readonly value: unknown } | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function namesIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(namesIn);
  if (value === null || typeof value !== 'object') return 0;
  return Object.entries(value).map(([name, item]) => [name, namesIn(item)]);
}
