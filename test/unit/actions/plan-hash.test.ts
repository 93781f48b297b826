import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Plan, planHash } from '../../../src/actions/proposals/plan-hash.ts';
import { canonicalJson } from '../../../src/core/canonical-json.ts';
import type { Json } from '../../../src/core/tool-call.ts';

const plan: Plan = {
  tool: 'box_mend',
  target: 'box',
  input: { how: 'a' },
  command: 'mend a',
  guard: { n: 1 },
  why: 'it is broken',
  blastRadius: 'the box',
  preflight: ['broken: true'],
  undo: 'break it',
  risk: 'low',
  runbookId: null,
  autonomyKey: null,
  purpose: 'repair',
  verify: { steps: [], holdMs: 1, timeoutMs: 1 },
  objects: [],
  denialsAcknowledged: [],
};
const hash = (input: unknown): string => planHash({ ...plan, input: input as Json });

test('the order of keys is no difference', () => {
  expect(hash({ a: 1, b: { c: 2, d: 3 } })).toBe(hash({ b: { d: 3, c: 2 }, a: 1 }));
});

test('a number is one number, however it was written', () => {
  for (const [one, other] of [
    ['1000', '1e3'],
    ['0', '-0'],
    ['1', '1.0'],
    ['100', '1e2'],
  ] as const)
    expect(hash({ n: JSON.parse(one) })).toBe(hash({ n: JSON.parse(other) }));
});

test('a field that is undefined is not there, as in the database', () => {
  expect(hash({ a: 1, b: undefined })).toBe(hash({ a: 1 }));
});

test('of keys given twice the last one counts, as it does for the tool', () => {
  expect(hash(JSON.parse('{"how": "gently", "how": "roughly"}'))).toBe(hash({ how: 'roughly' }));
});

test.each<[string, unknown, unknown]>([
  ['a number and its text', { n: 1 }, { n: '1' }],
  ['null and no field', { n: null }, {}],
  ['null and false', { n: null }, { n: false }],
  ['an empty list and an empty object', { n: [] }, { n: {} }],
  ['a list and an object of its places', ['a'], { 0: 'a' }],
  ['the order of a list', ['a', 'b'], ['b', 'a']],
  ['two forms of one letter', { how: '\u00e9' }, { how: 'e\u0301' }],
  ['case', { how: 'a' }, { how: 'A' }],
  ['white space', { how: 'a' }, { how: 'a ' }],
  ['a key that looks like two', { 'a":1,"b': 1 }, { a: 1, b: 1 }],
  ['a text that closes its quote', { how: '"},"target":"other' }, { how: '' }],
  ['a field of the prototype', JSON.parse('{"__proto__": {"how": "a"}}'), { how: 'a' }],
  ['numbers beyond the exact ones', { n: 2 ** 53 }, { n: 2 ** 53 - 1 }],
])('%s are two plans', (_, one, other) => {
  expect(hash(one)).not.toBe(hash(other));
});

test('every part of a plan is in its hash', () => {
  const changed = [
    { ...plan, tool: 'x' },
    { ...plan, target: 'x' },
    { ...plan, input: 'x' },
    { ...plan, command: 'x' },
    { ...plan, guard: 'x' },
  ];
  expect(new Set([plan, ...changed].map((each) => planHash(each))).size).toBe(6);
  // What stands in one part cannot pass for the next.
  expect(planHash({ ...plan, tool: 'a', target: 'b' })).not.toBe(
    planHash({ ...plan, tool: 'ab', target: '' }),
  );
});

test('canonical JSON is JSON of the same value, and one text for one value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value as Json);
      const back = JSON.parse(text) as Json;
      expect(canonicalJson(back)).toBe(text);
      expect(canonicalJson(JSON.parse(JSON.stringify(value)) as Json)).toBe(text);
    }),
  );
});

test.each<Partial<Plan>>([
  { why: 'because' },
  { blastRadius: 'nothing' },
  { preflight: [] },
  { preflight: ['broken: true', ''] },
  { undo: 'easily' },
  { risk: 'high' },
  { runbookId: 'box' },
  { purpose: 'prevent' },
  { verify: { steps: [], holdMs: 0, timeoutMs: 1 } },
  { objects: [{ kind: 'session', key: '1/session/7/x', label: 'session 7' }] },
  { denialsAcknowledged: ['den_1'] },
])('what the card says belongs to it: %j', (change) => {
  expect(planHash({ ...plan, ...change })).not.toBe(planHash(plan));
});
