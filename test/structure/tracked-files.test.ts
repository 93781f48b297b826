import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** What would tell where this was written: folders of a home or a workplace, and private package registries. */
const telling: readonly RegExp[] = [
  /(?<![\w.~/-])\/(?:work|root|Users\/[\w.-]+|home\/[\w.-]+)\/[\w.-]/,
  /https?:\/\/[^\s"'`<>)]*(?:registry|artifactory|nexus|verdaccio|npm-proxy|pypi)[^\s"'`<>)]*/i,
];
/** Below which folders this very checkout is, where that is telling enough not to be found by accident. */
const here = [root, homedir()].filter((path) => path.length > 8).map((path) => `${path}/`);

function tracked(): readonly string[] {
  const run = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`git ls-files: ${run.stderr || run.error?.message}`);
  return run.stdout.split('\0').filter((path) => path !== '');
}

/** Lines of a text that tell; a file that is no text has none. */
function linesThatTell(text: string): readonly string[] {
  if (text.includes('\0')) return [];
  return text
    .split('\n')
    .filter(
      (line) => telling.some((pattern) => pattern.test(line)) || here.some((place) => line.includes(place)),
    );
}

test('no tracked file names a path of a machine or a package registry', () => {
  const found = tracked().flatMap((path) => {
    let text: string;
    try {
      text = readFileSync(join(root, path), 'utf8');
    } catch (error) {
      // Deleted and not yet committed, or a link to a folder.
      if (['ENOENT', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
      throw error;
    }
    return linesThatTell(text).map((line) => `${path}: ${line.trim().slice(0, 160)}`);
  });
  expect(found).toEqual([]);
});

test('finds what it looks for', () => {
  const slash = '/';
  const samples = [
    `cd ${slash}work/main`,
    `"${slash}home/somebody/sentry"`,
    `(${slash}Users/somebody/code)`,
    `"resolved": "https:${slash}${slash}registry.example.com/zod/-/zod-4.0.0.tgz"`,
  ];
  for (const sample of samples) expect(linesThatTell(sample)).toEqual([sample]);
  const harmless =
    'import x from "../registry.ts"; // https://nodejs.org /var/lib/sentry-oncall /home /frame-work/x';
  expect(linesThatTell(harmless)).toEqual([]);
});
