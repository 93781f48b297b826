import { appendFileSync, chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LogReader } from '../../../../src/core/watched-log.ts';
import type { HostLog } from '../../../../src/targets/host/config.ts';
import { watchUnit } from '../../../../src/targets/host/logs/watch-unit.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

/**
 * Stands in for journalctl, whose journal cannot run here: a file of entries, shown after a cursor or from its beginning and
 * followed. It speaks journalctl's own words and its JSON; that the real one does the same is not shown here.
 */
let dir: string;
let journalctl: string;
const readers: LogReader[] = [];

beforeEach(() => {
  dir = scratchDir();
  journalctl = join(dir, 'journalctl');
  writeFileSync(join(dir, 'journal'), '');
  // Whatever stands in the folders above, it is no ES module.
  writeFileSync(join(dir, 'package.json'), '{}');
  writeFileSync(
    journalctl,
    `#!${process.execPath}
const fs = require('fs');
fs.appendFileSync('${dir}/told', process.argv.slice(2).join(' ') + '\\n');
if (fs.existsSync('${dir}/refuses')) { console.error('No journal files were opened due to insufficient permissions.'); process.exit(1); }
const after = process.argv.find((word) => word.startsWith('--after-cursor='))?.slice(15);
let passed = after === undefined, at = 0;
const look = () => {
  if (fs.existsSync('${dir}/ends')) process.exit(0);
  const text = fs.readFileSync('${dir}/journal', 'utf8');
  for (let end = text.indexOf('\\n', at); end !== -1; end = text.indexOf('\\n', at)) {
    const line = text.slice(at, end); at = end + 1;
    if (passed) process.stdout.write(line + '\\n');
    else if (JSON.parse(line).__CURSOR === after) passed = true;
  }
};
look(); setInterval(look, 10);
`,
  );
  chmodSync(journalctl, 0o755);
});
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()));
});

let entries = 0;
const write = (...messages: readonly unknown[]): void => {
  for (const MESSAGE of messages) {
    entries += 1;
    const entry = { __CURSOR: `s=1;i=${entries}`, __REALTIME_TIMESTAMP: '1', MESSAGE };
    appendFileSync(join(dir, 'journal'), `${JSON.stringify(entry)}\n`);
  }
};
const patterns = [{ match: 'ERROR', name: 'Shop', severity: 'error' }] as const;
async function open(given: Partial<HostLog> = {}, position: LogReader['position'] | null = null) {
  const log: HostLog = { from: { kind: 'unit', unit: 'shop.service' }, patterns, ...given };
  const reader = await watchUnit('shop.service', log, journalctl).open(position);
  readers.push(reader);
  return reader;
}
/** What matched, once so many lines are there. */
async function read(reader: LogReader, lines: number): Promise<readonly string[]> {
  await expect
    .poll(async () => {
      await reader.step();
      return reader.lines;
    })
    .toBe(lines);
  return reader.takeMatches().map(({ text }) => text);
}

test('tells what its patterns fit, and goes on after the entry that was told last', async () => {
  const first = await open();
  write('INFO fine', 'ERROR one', [...Buffer.from('ERROR caf\u00e9')], null, 'ERROR two\n  at a.js:1');
  expect(await read(first, 6)).toEqual(['ERROR one', 'ERROR café', 'ERROR two']);
  expect(first.takeNotes()).toEqual([
    'An entry of the journal holds no text, or megabytes of it, and was passed over.',
  ]);
  const { position } = first;
  await first.close();
  write('ERROR three');
  const second = await open({}, JSON.parse(JSON.stringify(position)));
  expect(await read(second, 1)).toEqual(['ERROR three']);
  const told = readFileSync(join(dir, 'told'), 'utf8').trim().split('\n');
  expect(told[0]).toMatch(
    /^--follow --no-tail --all --quiet --output=json --unit=shop\.service --since=@\d{10}$/,
  );
  expect(told[1]).toContain(`--after-cursor=s=1;i=${entries - 1}`);
});

test('a record of several entries is told whole, also by whoever goes on in the middle of it', async () => {
  const first = await open({ starts: '^\\S' });
  write('INFO fine', 'ERROR one', '  at a');
  expect(await read(first, 3)).toEqual([]);
  const { position } = first;
  await first.close();
  write('  at b', 'INFO fine');
  const second = await open({ starts: '^\\S' }, position);
  expect(await read(second, 4)).toEqual(['ERROR one\n  at a\n  at b']);
});

test('a journal that may not be read is said, and read once it may; one that ends is asked again', async () => {
  writeFileSync(join(dir, 'refuses'), '');
  const reader = await open();
  await expect
    .poll(async () => {
      await reader.step();
      return reader.problem;
    })
    .toBe('journalctl ended: No journal files were opened due to insufficient permissions.');
  rmSync(join(dir, 'refuses'));
  write('ERROR one');
  expect(await read(reader, 1)).toEqual(['ERROR one']);
  expect(reader.problem).toBeNull();
  writeFileSync(join(dir, 'ends'), '');
  await expect
    .poll(async () => {
      await reader.step();
      return reader.problem;
    })
    .toBe('journalctl ended');
  rmSync(join(dir, 'ends'));
  write('ERROR two');
  expect(await read(reader, 2)).toEqual(['ERROR two']);
});

test('where there is no systemd it says so', async () => {
  const log: HostLog = { from: { kind: 'unit', unit: 'shop.service' }, patterns };
  const nowhere = await watchUnit('shop.service', log, join(dir, 'nowhere')).open(null);
  readers.push(nowhere);
  await expect
    .poll(async () => {
      await nowhere.step();
      return nowhere.problem;
    })
    .toContain('journalctl could not be started');
  if (existsSync('/usr/bin/journalctl')) return;
  const none = await watchUnit('shop.service', log).open(null);
  await none.step();
  expect(none.problem).toContain('without systemd, name the file of the log instead');
});

test('an entry of many megabytes is passed over, said, and gone on after', async () => {
  const reader = await open();
  write(`ERROR ${'x'.repeat(6 * 1024 * 1024)}`, 'ERROR next');
  expect(await read(reader, 2)).toEqual(['ERROR next']);
  expect(reader.takeNotes()).toEqual([
    'An entry of the journal holds no text, or megabytes of it, and was passed over.',
  ]);
  const later = await open({}, reader.position);
  write('ERROR later');
  expect(await read(later, 1)).toEqual(['ERROR later']);
});
