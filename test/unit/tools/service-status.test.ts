import { expect, test } from 'vitest';
import type { Json } from '../../../src/core/tool-call.ts';
import { serviceStatus } from '../../../src/targets/host/read/service-status.ts';

const measure = serviceStatus.measures?.find(({ healthy }) => healthy === 'same');
const read = (...services: readonly Json[]) => measure?.value({ services });
const worker = { main_pid: 42, started_at: 'boot/100', running: true };

test('a service that was started again is another number, whoever counts restarts or not', () => {
  const first = read(worker);
  expect(first).toEqual(expect.any(Number));
  expect(read({ ...worker })).toBe(first);
  expect(read({ ...worker, main_pid: 43 })).not.toBe(first);
  // The pid came round, or the machine was booted.
  expect(read({ ...worker, started_at: 'boot/900' })).not.toBe(first);
  expect(read({ ...worker, started_at: 'later/100' })).not.toBe(first);
});

test('one of several that was started again is seen in all of them', () => {
  const other = { ...worker, main_pid: 7 };
  expect(read(worker, other)).not.toBe(read(worker, { ...other, started_at: 'boot/900' }));
});

test('what runs as no process that is known says nothing', () => {
  expect(read({ ...worker, main_pid: null, started_at: null })).toBeNull();
  expect(read()).toBeNull();
});
