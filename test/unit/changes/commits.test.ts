import { expect, test } from 'vitest';
import { boundedCommits, type Commit, commitOf, describeCommit } from '../../../src/core/change.ts';

const commit = (given: Partial<Commit> = {}): Commit => ({
  sha: null,
  title: null,
  by: null,
  files: [],
  ...given,
});

test.each([
  ['4f2a91c', { sha: '4f2a91c' }],
  ['4f2a91c Checkout keeps its connection', { sha: '4f2a91c', title: 'Checkout keeps its connection' }],
  ['4f2a91c: Checkout keeps it\n\nIt was closed.', { sha: '4f2a91c', title: 'Checkout keeps it' }],
  ['r48211', { sha: 'r48211' }],
  ['main@sha1:4f2a91c', { sha: 'main@sha1:4f2a91c' }],
  ['Defaced pages are served again', { title: 'Defaced pages are served again' }],
  ['defaced0pages are served again', { title: 'defaced0pages are served again' }],
  ['', {}],
])('a commit that is told as %j', (text, known) => {
  expect(commitOf(text)).toEqual(commit(known));
});

test('is read aloud with what is known of it', () => {
  const sha = '4f2a91c0'.repeat(5);
  expect(describeCommit(commit({ sha, title: 'Checkout keeps it', by: 'olivia' }))).toBe(
    '4f2a91c Checkout keeps it, by olivia',
  );
  expect(describeCommit(commit({ sha: 'r48211' }))).toBe('r48211');
  expect(describeCommit(commit())).toBe('a commit');
});

test('is bounded, and of many the newest are kept', () => {
  const files = Array.from({ length: 30 }, (_, n) => `src/${'x'.repeat(300)}${n}`);
  const many = Array.from({ length: 60 }, (_, n) =>
    commit({ sha: `r${n}`, title: 'a\nb '.repeat(200), files }),
  );
  const kept = boundedCommits(many);
  expect([kept.length, kept[0]?.sha, kept.at(-1)?.sha]).toEqual([50, 'r10', 'r59']);
  expect([kept[0]?.files.length, kept[0]?.files[0]?.length, kept[0]?.title?.length]).toEqual([20, 200, 200]);
  expect(kept[0]?.title).not.toContain('\n');
});
