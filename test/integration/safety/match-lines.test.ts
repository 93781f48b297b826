import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { matchLines } from '../../../src/safety/grep/match-lines.ts';
import type { MatchTask } from '../../../src/safety/grep/match-worker.ts';

const asPattern = (pattern: string) => ({ pattern, ignoreCase: true, literal: false });
const task = (pattern: string, lines: MatchTask['lines'], more: Partial<MatchTask> = {}): MatchTask => ({
  patterns: [asPattern(pattern)],
  lines,
  newestFirst: false,
  maxHits: 100,
  maxMs: 20_000,
  ...more,
});

/** Dear for RE2, which finds no few states for it: about two seconds for a line of the longest kind that is searched. */
const dear = 'a[ab]{300}c';
let seed = 1;
const longLine = Array.from({ length: 1_000_000 }, () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  return seed < 2 ** 30 ? 'a' : 'b';
}).join('');

it('says which lines match, by which pattern first, and which it did not get to', async () => {
  const lines = ['fine', 'ERROR one', 'panic', 'error two'];
  expect(
    await matchLines({ ...task('panic', lines), patterns: [asPattern('panic'), asPattern('error')] }),
  ).toEqual({
    hits: [
      { line: 1, pattern: 1, text: 'ERROR one' },
      { line: 2, pattern: 0, text: 'panic' },
      { line: 3, pattern: 1, text: 'error two' },
    ],
    tried: 4,
    complete: true,
  });
  expect(await matchLines(task('error', lines.join('\n'), { newestFirst: true, maxHits: 1 }))).toMatchObject({
    hits: [{ line: 3 }],
    complete: false,
  });
  expect(await matchLines(task('error', lines, { maxMs: -1 }))).toEqual({
    hits: [],
    tried: 0,
    complete: false,
  });
});

it('no line and no pattern holds the event loop: megabytes in one line, and many of them [F5]', async () => {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 10);
  const cpuBefore = process.cpuUsage();
  const many = Array.from({ length: 60 }, () => longLine.slice(0, 64 * 1024));
  const [one, all] = await Promise.all([
    matchLines(task(dear, longLine)),
    matchLines(task(dear, many, { maxMs: 3_000 })),
  ]);
  clearInterval(timer);
  expect(one).toMatchObject({ hits: [], complete: false });
  expect(all.hits).toEqual([]);
  // The work took place, beside us: what this process computed is far more than the longest time nobody was served.
  const cpuMs = (process.cpuUsage(cpuBefore).user + process.cpuUsage(cpuBefore).system) / 1_000;
  expect(cpuMs).toBeGreaterThan(1_000);
  expect(longest).toBeLessThan(cpuMs / 2);
});

it('whoever is no longer asked does not wait, and the next one is served', async () => {
  const ending = new AbortController();
  const many = Array.from({ length: 60 }, () => longLine.slice(0, 64 * 1024));
  const slow = matchLines(task(dear, many, { maxMs: 1_000 }), ending.signal);
  const queued = matchLines(task('x', ['x']), ending.signal);
  await delay(5);
  ending.abort(new Error('enough'));
  await expect(slow).rejects.toThrow('enough');
  await expect(queued).rejects.toThrow('enough');
  expect((await matchLines(task('x', ['x']))).hits).toHaveLength(1);
});

it('a pattern that cannot be used fails its caller, and nobody after it', async () => {
  await expect(matchLines(task('(', ['x']))).rejects.toMatchObject({ code: 'MATCHING' });
  expect((await matchLines(task('(?i)X', ['x']))).hits).toHaveLength(1);
});
