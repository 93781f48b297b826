import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { createThrottle, readLimits, type ThrottleLimits } from '../../../src/safety/limits/throttle.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';

let scratch: ScratchDatabase;
let here: Database;
let there: Database;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  here = openDatabase(scratch.url, { max: 5 });
  there = openDatabase(scratch.url, { max: 5 });
  // The driver learns the array types with its first statement.
  await Promise.all([here.sql`SELECT 1`, there.sql`SELECT 1`]);
});
beforeEach(async () => {
  await here.sql`TRUNCATE throttle`;
});
afterAll(async () => {
  await here.close();
  await there.close();
  await scratch.drop();
});

const limits = (text: string): ThrottleLimits => {
  const read = readLimits(text);
  if (typeof read === 'string') throw new Error(read);
  return read;
};
const both = (text: string) =>
  [createThrottle(here.sql, limits(text)), createThrottle(there.sql, limits(text))] as const;
const call = { role: 'detective', tool: 'box_state', target: 'box', incidentId: 'INC-1' };
/** As if everything on record had happened that much earlier. */
const age = (seconds: number) =>
  here.sql`UPDATE throttle SET starts = (SELECT array_agg(s - ${seconds}::float8) FROM unnest(starts) s)`;

test('two processes together have no more calls than one', async () => {
  const [a, b] = both('tool=50/1m');
  const answers = await Promise.all(Array.from({ length: 120 }, (_, n) => (n % 2 ? a : b).take(call)));
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(50);
  expect(answers.filter((answer) => answer?.code === 'TOO_MANY_CALLS')).toHaveLength(70);
});

test.each([
  ['role=2/1m', { ...call, role: 'triage' }],
  ['tool=2/1m', { ...call, tool: 'other' }],
  ['target=2/1m', { ...call, target: 'other' }],
  ['incident=2/1m', { ...call, incidentId: 'INC-2' }],
])('%s counts its own kind, and nobody else’s', async (text, another) => {
  const throttle = createThrottle(here.sql, limits(text));
  expect(await throttle.take(call)).toBeUndefined();
  expect(await throttle.take(call)).toBeUndefined();
  expect(await throttle.take(call)).toMatchObject({ code: 'TOO_MANY_CALLS' });
  expect(await throttle.take(another)).toBeUndefined();
});

test('a call that is refused by one limit is counted by none', async () => {
  const throttle = createThrottle(here.sql, limits('tool=1/1m,target=3/1m'));
  await throttle.take(call);
  for (let n = 0; n < 5; n += 1) await throttle.take(call);
  expect(await throttle.take({ ...call, tool: 'second' })).toBeUndefined();
  expect(await throttle.take({ ...call, tool: 'third' })).toBeUndefined();
  expect(await throttle.take({ ...call, tool: 'fourth' })).toMatchObject({ code: 'TOO_MANY_CALLS' });
});

test('the answer says when to try again; then, and not before, there is room', async () => {
  const throttle = createThrottle(here.sql, limits('tool=3/1m'));
  await throttle.take(call);
  await age(20);
  await throttle.take(call);
  await throttle.take(call);
  const refusal = await throttle.take(call);
  expect(refusal?.reason).toMatch(/^tool:box_state has used its 3 calls in 1 min. Try again in 4\d s\.$/);
  await age(39);
  expect(await throttle.take(call)).toMatchObject({ code: 'TOO_MANY_CALLS' });
  await age(3);
  // The first is out of the window, the two after it are not.
  expect(await throttle.take(call)).toBeUndefined();
  expect(await throttle.take(call)).toMatchObject({ code: 'TOO_MANY_CALLS' });
});

test('no window of the length ever holds more, wherever it begins', async () => {
  const throttle = createThrottle(here.sql, limits('tool=10/1m'));
  const at: number[] = [];
  let clock = 0;
  for (let step = 0; step < 120; step += 1) {
    if ((await throttle.take(call)) === undefined) at.push(clock);
    const pause = step % 7;
    clock += pause;
    await age(pause);
  }
  for (const from of at)
    expect(at.filter((each) => each >= from && each < from + 60).length).toBeLessThanOrEqual(10);
  expect(at.length).toBeGreaterThan(30);
});

test('many calls on crossing keys at once do not wait for each other for ever', async () => {
  const [a, b] = both('role=1000/1m,tool=1000/1m,target=1000/1m');
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      (n % 2 ? a : b).take({ ...call, role: `r${n % 3}`, tool: `t${n % 5}`, target: `x${n % 7}` }),
    ),
  );
  expect(answers.every((answer) => answer === undefined)).toBe(true);
});

describe('limits', () => {
  test('are read as they are written', () => {
    expect(readLimits('incident=300/1h, tool=5/s,')).toEqual({
      incident: { calls: 300, seconds: 3_600 },
      tool: { calls: 5, seconds: 1 },
    });
    expect(readLimits('')).toEqual({});
  });

  test.each([
    'incident',
    'incident=0/1h',
    'incident=5',
    'user=5/1h',
    'tool=5/0s',
    'tool=5/25h',
    'tool=-1/1h',
    'tool=1e9/1h',
  ])('%s is none, and it is said what one is', (text) =>
    expect(readLimits(text)).toMatch(/is no limit: expected role\|tool\|target\|incident=/),
  );
});
