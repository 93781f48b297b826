import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refuse } from '../../../../src/core/errors.ts';
import { openInside } from '../../../../src/safety/paths/open-inside.ts';
import { FileFollower, type LogPosition } from '../../../../src/targets/host/logs/follow-file.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

let dir: string;
let log: string;
let told: string[];
let clock: number;
let isShut: boolean;
/** The clock of files is coarse. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
const open: FileFollower[] = [];

beforeEach(() => {
  dir = scratchDir();
  log = join(dir, 'app.log');
  told = [];
  clock = 0;
  isShut = false;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((follower) => follower.close()));
});

async function follow(position: LogPosition | null = null): Promise<FileFollower> {
  const follower = new FileFollower({
    path: log,
    open: async (path) =>
      isShut ? refuse('PATH_UNREADABLE', 'The file cannot be opened (EACCES).') : openInside(dir, path),
    starts: null,
    onRecord: (text) => void told.push(text),
    now: () => clock,
  });
  await follower.begin(position && (JSON.parse(JSON.stringify(position)) as LogPosition));
  open.push(follower);
  return follower;
}

/** Reads all there is, some time later. */
async function read(follower: FileFollower, laterMs = 1_000): Promise<readonly string[]> {
  clock += laterMs;
  told = [];
  while (await follower.step());
  return told;
}

/** As after a kill: only the position is kept. */
async function again(follower: FileFollower): Promise<FileFollower> {
  const { position } = follower;
  await follower.close();
  return follow(position);
}

test('begins at the end of what is there, with a line that is being written, and goes on where it was', async () => {
  writeFileSync(log, 'old\nhalf');
  const first = await follow();
  expect(await read(first)).toEqual([]);
  appendFileSync(log, ' a line\nnext\n');
  expect(await read(first)).toEqual(['half a line', 'next']);
  appendFileSync(log, 'while nobody reads\n');
  const second = await again(first);
  expect(await read(second)).toEqual(['while nobody reads']);
  expect(second.takeNotes()).toEqual([]);
});

test('a log that is not there yet is read from its beginning', async () => {
  const follower = await follow();
  expect(await read(follower)).toEqual([]);
  writeFileSync(log, 'first\n');
  expect(await read(follower)).toEqual(['first']);
  expect(follower.problem).toBeNull();
});

test('a renamed file is read to its end before the new one, also what is written to it later', async () => {
  writeFileSync(log, '');
  const follower = await follow();
  const writer = openSync(log, 'a');
  writeSync(writer, 'a\n');
  renameSync(log, `${log}.1`);
  writeSync(writer, 'b\n');
  writeFileSync(log, 'c\n');
  expect(await read(follower)).toEqual(['a', 'b', 'c']);
  writeSync(writer, 'late\n');
  appendFileSync(log, 'd\n');
  expect(await read(follower)).toEqual(['late', 'd']);
  // So does whoever takes over meanwhile.
  const second = await again(follower);
  writeSync(writer, 'later, without an end');
  expect(await read(second)).toEqual([]);
  closeSync(writer);
  expect(await read(second, 3_600_000)).toEqual(['later, without an end']);
  expect(second.position.files).toHaveLength(1);
});

test('a file that is renamed, compressed and taken away while it is read is read to its end', async () => {
  writeFileSync(log, '');
  const follower = await follow();
  appendFileSync(log, 'a\n');
  renameSync(log, `${log}.1`);
  expect(spawnSync('gzip', [`${log}.1`]).status).toBe(0);
  writeFileSync(log, 'b\n');
  expect(await read(follower)).toEqual(['a', 'b']);
  expect(follower.takeNotes()).toEqual([]);
  await read(follower, 6_000);
  expect(follower.position.files).toHaveLength(1);
});

test('rotated more than once while nobody reads: every file is read, in order, and none of before', async () => {
  writeFileSync(`${log}.1`, 'long ago\n');
  writeFileSync(log, '');
  const first = await follow();
  appendFileSync(log, 'a\n');
  await read(first);
  appendFileSync(log, 'b\n');
  renameSync(`${log}.1`, `${log}.3`);
  renameSync(log, `${log}.2`);
  await pause();
  writeFileSync(`${log}.1`, 'c\n');
  await pause();
  writeFileSync(log, 'd\n');
  const second = await again(first);
  expect(await read(second)).toEqual(['b', 'c', 'd']);
  const third = await again(second);
  expect(await read(third)).toEqual([]);
});

test('copied and emptied: the rest is read in the copy, and what can be lost is said', async () => {
  writeFileSync(log, '');
  const follower = await follow();
  appendFileSync(log, 'a line of some length\n');
  await read(follower);
  appendFileSync(log, 'b\n');
  copyFileSync(log, `${log}.1`);
  truncateSync(log, 0);
  appendFileSync(log, 'c\n');
  expect(await read(follower)).toEqual(['b', 'c']);
  expect(follower.takeNotes()).toEqual([
    'It was emptied (copytruncate) when it was read up to byte 22; the rest was found in its copy. Lines written between copy and emptying are in neither.',
  ]);
});

test('emptied and written beyond the place before anybody looks is noticed; without a copy the loss is said', async () => {
  writeFileSync(log, '');
  const follower = await follow();
  appendFileSync(log, 'a line\n');
  await read(follower);
  truncateSync(log, 0);
  appendFileSync(log, 'another line, and longer\nmore\n');
  expect(await read(follower)).toEqual(['another line, and longer', 'more']);
  expect(follower.takeNotes().join()).toContain(
    'there is no copy: lines written after the last look are lost',
  );
});

test('copied and emptied while nobody reads: the copy is read from the place, the file from its beginning', async () => {
  writeFileSync(log, 'a line of some length\n');
  const first = await follow();
  appendFileSync(log, 'b\n');
  await read(first);
  appendFileSync(log, 'c\n');
  copyFileSync(log, `${log}.1`);
  truncateSync(log, 0);
  appendFileSync(log, 'd\n');
  const second = await again(first);
  expect(await read(second)).toEqual(['c', 'd']);
});

test.each([
  ['lines', null],
  ['records of several lines', (line: string) => /^\d{4}/.test(line)],
])(
  'a hole of any size between %s costs no memory, is passed in rests, and hides nothing [T3]',
  async (_, starts) => {
    const follower = new FileFollower({
      path: log,
      open: async (path) => openInside(dir, path),
      starts,
      onRecord: (text) => void told.push(text),
      now: () => clock,
    });
    open.push(follower);
    await follower.begin(null);
    appendFileSync(log, '2026 first\n');
    await follower.step();
    const size = 300 * 1024 * 1024;
    truncateSync(log, size);
    appendFileSync(log, '2026 last\n2026 open');
    let rests = 0;
    let steps = 0;
    while (follower.position.files[0]?.offset !== size + '2026 last\n'.length && steps < 100) {
      if (!(await follower.step())) rests += 1;
      clock += 1_000;
      steps += 1;
    }
    expect(told).toEqual(['2026 first', '2026 last']);
    // Each part of it is a step, and after each the reader rests.
    expect(steps).toBeLessThan(20);
    expect(rests).toBeGreaterThanOrEqual(4);
  },
);

test('a hole in the middle of a line is passed as well, and the next line is told [T3]', async () => {
  const follower = await follow();
  writeFileSync(log, 'begun');
  truncateSync(log, 300 * 1024 * 1024);
  appendFileSync(log, 'ended\nnext\n');
  const lines: string[] = [];
  for (let steps = 0; steps < 20; steps += 1) {
    clock += 1_000;
    await follower.step();
    lines.push(...told.splice(0));
  }
  expect(lines.map((line) => line.slice(0, 5))).toEqual(['begun', 'next']);
});

test('a writer without O_APPEND leaves a hole of NULs after the emptying, which belongs to nothing', async () => {
  writeFileSync(log, '');
  const follower = await follow();
  const writer = openSync(log, 'w');
  writeSync(writer, `${'x'.repeat(100_000)}\n`);
  await read(follower);
  truncateSync(log, 0);
  writeSync(writer, 'after\n');
  expect(await read(follower)).toEqual(['after']);
  closeSync(writer);
});

test('emptied before anything of it was read, and then renamed: both parts are read, once', async () => {
  writeFileSync(log, '');
  const follower = await follow();
  for (const part of ['a', 'b', 'c']) {
    await pause();
    appendFileSync(log, `${part} one\n${part} two\n`);
    await pause();
    copyFileSync(log, `${log}.${part.charCodeAt(0)}`);
    truncateSync(log, 0);
  }
  await pause();
  appendFileSync(log, 'd one\n');
  renameSync(log, `${log}.999`);
  writeFileSync(log, 'e one\n');
  const parts = ['a one', 'a two', 'b one', 'b two', 'c one', 'c two', 'd one', 'e one'];
  expect(await read(follower)).toEqual(parts);
  const second = await again(follower);
  expect(await read(second)).toEqual([]);
  expect(new Set(second.position.files.map(({ inode }) => inode)).size).toBe(second.position.files.length);
});

test('a reused inode is another file', async () => {
  writeFileSync(log, 'a line of some length\n');
  const first = await follow();
  appendFileSync(log, 'b\n');
  await read(first);
  const { position } = first;
  await first.close();
  writeFileSync(log, 'of another file altogether, longer than the one before\n');
  const second = await follow(position);
  expect(await read(second)).toEqual(['of another file altogether, longer than the one before']);
  expect(second.takeNotes().join()).toContain('what was written to it after that is lost');
});

test('compressed while nobody reads: the loss is said', async () => {
  writeFileSync(log, 'a\n');
  const first = await follow();
  const { position } = first;
  await first.close();
  renameSync(log, `${log}.1`);
  spawnSync('gzip', [`${log}.1`]);
  writeFileSync(log, 'b\n');
  const second = await follow(position);
  expect(await read(second)).toEqual(['b']);
  expect(second.takeNotes().join()).toContain('read up to byte 2 is gone');
});

test('no link leads out of the declared folders, and it is said', async () => {
  const outside = scratchDir();
  writeFileSync(join(outside, 'secret.log'), 'secret\n');
  symlinkSync(join(outside, 'secret.log'), log);
  const follower = await follow();
  appendFileSync(join(outside, 'secret.log'), 'more\n');
  expect(await read(follower)).toEqual([]);
  expect(follower.problem).toBe('The path leads out of the root it belongs to.');
  // Also one that takes the log's place later, and one among the rotated files.
  rmSync(log);
  writeFileSync(log, 'good\n');
  expect(await read(follower)).toEqual(['good']);
  expect(follower.problem).toBeNull();
  renameSync(log, `${log}.2`);
  await pause();
  symlinkSync(join(outside, 'secret.log'), `${log}.1`);
  writeFileSync(log, 'new\n');
  expect(await read(follower)).toEqual(['new']);
  expect(follower.takeNotes()).toEqual(['app.log.1 is a link, which is not followed.']);
});

test('a folder in its place is said, and is no end', async () => {
  mkdirSync(log);
  const follower = await follow();
  await read(follower);
  expect(follower.problem).toContain('folder');
  rmSync(log, { recursive: true });
  writeFileSync(log, 'a\n');
  expect(await read(follower)).toEqual(['a']);
});

test('a log that may not be opened is said, and is read from its place once it may', async () => {
  writeFileSync(log, 'old\n');
  isShut = true;
  const first = await follow();
  await read(first);
  expect(first.problem).toContain('EACCES');
  appendFileSync(log, 'new\n');
  // Also by whoever takes over meanwhile.
  const second = await again(first);
  expect(await read(second)).toEqual([]);
  isShut = false;
  expect(await read(second)).toEqual(['new']);
  expect([second.problem, second.takeNotes()]).toEqual([null, []]);
  isShut = true;
  appendFileSync(log, 'by the descriptor\n');
  expect(await read(second)).toEqual(['by the descriptor']);
  const third = await again(second);
  appendFileSync(log, 'last\n');
  await read(third);
  expect(third.problem).toContain('EACCES');
  isShut = false;
  expect(await read(third)).toEqual(['last']);
});

test('a long run of rotations of every way, with kills between, tells each line once and in order', async () => {
  writeFileSync(log, '');
  let follower = await follow();
  const all: string[] = [];
  let next = 0;
  const write = (lines: number): void => {
    for (let n = 0; n < lines; n += 1)
      appendFileSync(log, `line ${next++} of the run, long enough to be known again\n`);
  };
  for (let round = 0; round < 40; round += 1) {
    write(round % 7);
    if (round % 3 === 0) all.push(...(await read(follower)));
    write(round % 5);
    await pause();
    if (round % 4 === 1) {
      renameSync(log, join(dir, `app.log-${1000 + round}`));
      writeFileSync(log, '');
    } else if (round % 4 === 3) {
      copyFileSync(log, join(dir, `app.log-${1000 + round}`));
      truncateSync(log, 0);
    }
    await pause();
    if (round % 8 > 3) all.push(...(await read(follower)));
    if (round % 5 === 2) follower = await again(follower);
  }
  all.push(...(await read(follower)));
  expect(all).toEqual(
    Array.from({ length: next }, (_, n) => `line ${n} of the run, long enough to be known again`),
  );
});

test('a log whose name is a link within the folders goes on where it was, too', async () => {
  const real = join(dir, 'app-today.txt');
  writeFileSync(real, 'one\n');
  symlinkSync(real, log);
  const first = await follow();
  appendFileSync(real, 'two\n');
  expect(await read(first)).toEqual(['two']);
  const next = await again(first);
  appendFileSync(real, 'three\n');
  expect(await read(next)).toEqual(['three']);
  expect(next.takeNotes()).toEqual([]);
});

test('of two rotations within one tick of the clock of files, the later one is read, too', async () => {
  writeFileSync(log, '');
  const first = await follow();
  appendFileSync(log, 'a line of some length that tells the file\n'.repeat(4));
  expect(await read(first)).toHaveLength(4);
  copyFileSync(log, `${log}.1`);
  truncateSync(log, 0);
  appendFileSync(log, 'b\nc\n');
  renameSync(log, `${log}.2`);
  writeFileSync(log, 'd\n');
  const at = new Date(Date.now() - 1_000);
  utimesSync(`${log}.1`, at, at);
  utimesSync(`${log}.2`, at, at);
  expect(await read(await again(first))).toEqual(['b', 'c', 'd']);
});

test('of many files, one that waits for its turn is not done with, however long it waits', async () => {
  writeFileSync(log, 'line 0\n');
  const follower = await follow();
  await read(follower);
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`);
  for (const [n, line] of lines.entries()) {
    renameSync(log, `${log}.${n + 1}`);
    writeFileSync(log, `${line}\n`);
    await pause();
  }
  told = [];
  // As on a busy machine: seconds pass between two parts.
  for (let n = 0; n < 60; n += 1) {
    clock += 10_000;
    await follower.step();
  }
  expect(told).toEqual(lines);
});

test('of many files, one that was written to, or emptied, while nobody read is not done with', async () => {
  writeFileSync(log, 'line 0\n');
  const follower = await follow();
  for (let n = 1; n <= 20; n += 1) {
    renameSync(log, `${log}.${n}`);
    writeFileSync(log, `line ${n}\n`);
    await pause();
    await read(follower, 200);
  }
  await read(follower, 500);
  // Its writer still holds the last one, and writes to it after a long silence.
  appendFileSync(`${log}.20`, 'late\n');
  expect(await read(follower, 60_000)).toEqual(['late']);
});
