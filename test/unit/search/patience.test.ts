import { expect, test } from 'vitest';
import { createPatience } from '../../../src/search/meaning/patience.ts';

const after = (samples: readonly number[]) => {
  const patience = createPatience();
  for (const ms of samples) patience.took(ms);
  return patience;
};

test('meaning that comes in time, or is not known yet, is waited for', () => {
  expect(after([]).decide(45)).toBe('wait');
  expect(after([300, 300]).decide(45)).toBe('wait');
  expect(after([30, 300, 31, 32, 300, 33, 34]).decide(45)).toBe('wait');
});

test('meaning that keeps being late is not waited for, but asked for now and then', () => {
  const patience = after(Array.from({ length: 7 }, () => 200));
  const decided = Array.from({ length: 16 }, () => patience.decide(45));
  expect(decided.filter((one) => one === 'probe')).toHaveLength(2);
  expect(decided.filter((one) => one === 'wait')).toHaveLength(0);
  // Who has the time still waits.
  expect(patience.decide(1_000)).toBe('wait');
  for (let i = 0; i < 4; i += 1) patience.took(20);
  expect(patience.decide(45)).toBe('wait');
});
