import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecordSplitter } from '../../../../../src/targets/host/logs/split-records.ts';

const START = { offset: 0, inLongLine: false };

function split(chunks: readonly (string | Buffer)[], starts: RegExp | null = null, from = START) {
  const records: string[] = [];
  const splitter = new RecordSplitter(
    { starts: starts && ((line) => starts.test(line)), onRecord: (text) => records.push(text) },
    from,
  );
  for (const chunk of chunks) splitter.push(Buffer.from(chunk as string));
  return { records, splitter };
}

test('each line is a record once its newline is there, and the place is after it', () => {
  const { records, splitter } = split(['one\ntwo\r\n\nthr', 'ee\nfo']);
  expect(records).toEqual(['one', 'two', '', 'three']);
  expect(splitter.place).toEqual({ offset: 16, inLongLine: false });
  splitter.end();
  expect(records.at(-1)).toBe('fo');
  expect([splitter.lines, splitter.place.offset]).toEqual([5, 18]);
});

test('a record of several lines ends where the next begins, and when nothing more comes', () => {
  const { records, splitter } = split(
    ['  late\nERR one\n  at a\n', '  at b\nINFO two\nERR three\n  at c\n  at'],
    /^\w/,
  );
  expect(records).toEqual(['  late', 'ERR one\n  at a\n  at b', 'INFO two']);
  expect(splitter.place.offset).toBe('  late\nERR one\n  at a\n  at b\nINFO two\n'.length);
  splitter.settle();
  expect(records.at(-1)).toBe('ERR three\n  at c');
  splitter.push(Buffer.from(' d\nINFO four\n'));
  splitter.end();
  expect(records.slice(3)).toEqual(['ERR three\n  at c', '  at d', 'INFO four']);
});

test('of a line longer than a record the first part is looked at, and the rest belongs to nothing', () => {
  const long = 'x'.repeat(70_000);
  const { records, splitter } = split([long, long, `${long}\nnext\n`]);
  expect(records.map((text) => text.length)).toEqual([65_536, 4]);
  expect([splitter.lines, splitter.cut, splitter.place.offset]).toEqual([2, 1, 210_006]);
  // Whoever goes on in the middle of it does not take its rest for a line.
  const later = split([`${long}\nnext\n`], null, { offset: 140_000, inLongLine: true });
  expect(later.records).toEqual(['next']);
});

test('a record of more lines than one may have goes on as another, and none is left out', () => {
  const trace = Array.from({ length: 3_000 }, (_, n) => `  at frame ${n} of a stack that does not end\n`);
  const { records, splitter } = split(['ERR one\n', ...trace, 'ERR two\n'], /^ERR/);
  splitter.end();
  expect(`${records.join('\n')}\n`).toBe(`ERR one\n${trace.join('')}ERR two\n`);
  expect([records.length > 2, splitter.cut, splitter.lines]).toEqual([true, 0, 3_002]);
});

test('NULs before a line belong to nothing, however many, and bytes that are no UTF-8 are shown', () => {
  const hole = Buffer.alloc(300_000);
  const { records, splitter } = split([
    hole,
    Buffer.concat([hole, Buffer.from('after\nb\xffd\n', 'latin1')]),
  ]);
  expect(records).toEqual(['after', 'b\uFFFDd']);
  expect([splitter.cut, splitter.place.offset]).toEqual([0, 600_010]);
});

test('however the bytes come in, and wherever it is taken up again, every line is told once', () => {
  const line = fc.stringMatching(/^[aE ][a-c é]{0,6}$/);
  const cuts = fc.array(fc.nat(60), { maxLength: 6 });
  const property = fc.property(fc.array(line, { maxLength: 12 }), cuts, fc.boolean(), (lines, at, multi) => {
    const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
    const starts = multi ? (text: string) => text.startsWith('E') : null;
    const told: string[] = [];
    const onRecord = (text: string): void => void told.push(text);
    let splitter = new RecordSplitter({ starts, onRecord }, START);
    const borders = [...at, bytes.length].map((each) => Math.min(each, bytes.length)).sort((a, b) => a - b);
    for (const border of borders) {
      splitter.push(bytes.subarray(splitter.readOffset, Math.max(border, splitter.readOffset)));
      // A kill: only its place is kept.
      splitter = new RecordSplitter({ starts, onRecord }, splitter.place);
    }
    splitter.push(bytes.subarray(splitter.readOffset));
    splitter.end();
    expect(told.flatMap((record) => record.split('\n'))).toEqual(lines.map((each) => each));
  });
  fc.assert(property);
});
