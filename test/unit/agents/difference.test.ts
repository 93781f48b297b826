import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { differenceOf } from '../../../src/agents/claude/difference.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import { allTools } from '../../../src/targets/all-tools.ts';

const lines = (before: Json, now: Json, counters: readonly string[] = [], seconds = 10) =>
  differenceOf({ before, now, seconds, counters }).lines;

describe('what changed between two reads', () => {
  test.each<[string, Json, Json, readonly string[]]>([
    ['a number', { free: 7 }, { free: 4 }, ['free: −3 (7 → 4) in 10 s']],
    ['a word', { state: 'idle' }, { state: 'active' }, ['state: idle → active']],
    ['a truth', { full: false }, { full: true }, ['full: false → true']],
    ['what is known now', { root: null }, { root: { pid: 7 } }, ['root: null → {"pid":7}']],
    ['a field that came and one that went', { a: 1 }, { b: 'x' }, ['a: gone', 'b: new: x']],
    ['plain lists', ['one', 'two'], ['two', 'three'], ['new: three', 'gone: one']],
    ['a number of another kind', { n: 1 }, { n: '1' }, []],
  ])('%s', (_, before, now, wanted) => {
    if (wanted.length > 0) expect(lines(before, now)).toEqual(wanted);
    else expect(lines(before, now)).toHaveLength(1);
  });

  test('tables are told apart by schema and name where the name alone is not enough', () => {
    const rows = (dead: number) => [
      { schema: 'a', table: 'orders', dead },
      { schema: 'b', table: 'orders', dead: 1 },
      { schema: 'b', table: 'items', dead: 1 },
    ];
    expect(lines({ tables: rows(5) }, { tables: rows(9) })).toEqual([
      'tables[table a.orders].dead: +4 (5 → 9) in 10 s',
    ]);
  });

  test('an age that grew with the time says nothing; one that did not does', () => {
    expect(lines({ wait_seconds: 5 }, { wait_seconds: 15.4 })).toEqual([]);
    expect(lines({ wait_seconds: 5 }, { wait_seconds: 2 })).toEqual(['wait_seconds: −3 (5 → 2) in 10 s']);
  });

  test('a counter is a rate, slow ones too, and says when it was reset', () => {
    expect(lines({ deadlocks: 3 }, { deadlocks: 4 }, ['deadlocks'], 60)).toEqual([
      'deadlocks: +1 in 60 s (0.017/s)',
    ]);
    expect(lines({ deadlocks: 9 }, { deadlocks: 0 }, ['deadlocks'])).toEqual(['deadlocks: 0: it was reset']);
  });

  test('has an end, and the outermost comes first', () => {
    const many = (by: number): Json => ({
      deep: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`n${n}`, n + by])),
      total: by,
    });
    const told = lines(many(0), many(1));
    expect(told).toHaveLength(13);
    expect(told[0]).toBe('total: +1 (0 → 1) in 10 s');
    expect(told.at(-1)).toBe('… and 29 more');
  });

  test('nothing in common with itself, whatever it is; never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(differenceOf({ before: a as Json, now: a as Json, seconds: 5 }).unchanged).toBe(true);
        const { unchanged } = differenceOf({ before: a as Json, now: b as Json, seconds: 5 });
        expect(typeof unchanged).toBe('boolean');
      }),
    );
  });
});

test('tools that count since a reset say which of their numbers are counters', () => {
  const declared = allTools.flatMap((tool) =>
    'counters' in tool && tool.counters ? [[tool.name, tool.counters] as const] : [],
  );
  expect(declared.map(([name]) => name).toSorted()).toEqual([
    'postgres_cache_hit',
    'postgres_checkpoints',
    'postgres_deadlocks',
    'postgres_index_use',
    'postgres_sizes',
    'postgres_slow_statements',
  ]);
});
