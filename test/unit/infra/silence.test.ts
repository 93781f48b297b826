import { expect, test } from 'vitest';
import { createSilence } from '../../../src/infra/dbos/takeover.ts';

/** Looks at one other process, a second apart unless said otherwise. */
function watch() {
  let now = 0;
  const silence = createSilence(() => now);
  return (beat: string, { age = 0, afterMs = 1_000 } = {}): boolean => {
    now += afterMs;
    return silence.among([{ executor_id: 'other', beat, age }]).has('other');
  };
}

const HOUR_MS = 3_600_000;

test('the clock of the database set forth makes nobody dead who beats, and set back keeps nobody alive [C6]', () => {
  const forth = watch();
  expect(forth('1')).toBe(false);
  expect(forth('1', { age: HOUR_MS })).toBe(false);
  expect(forth('2', { age: HOUR_MS })).toBe(false);
  const back = watch();
  const looks = Array.from({ length: 9 }, () => back('1', { age: -HOUR_MS }));
  expect([looks[0], looks[5], looks[8]]).toEqual([false, false, true]);
});

test('who was silent for long before the first look is dead at once [C6]', () => {
  expect(watch()('1', { age: 7_000 })).toBe(true);
  expect(watch()('1', { age: 5_000 })).toBe(false);
});

test('a pause of our own counts as no more than two beats of another [C6]', () => {
  const look = watch();
  look('1');
  expect(look('1', { afterMs: 26_000 })).toBe(false);
  expect(look('1', { afterMs: 26_000 })).toBe(false);
});
