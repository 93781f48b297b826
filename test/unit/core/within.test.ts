import { expect, test } from 'vitest';
import { within } from '../../../src/core/within.ts';

const never = new Promise<never>(() => undefined);

test('gives what the work gives, be it an error', async () => {
  expect(await within(60_000, Promise.resolve(1))).toBe(1);
  await expect(within(60_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});

test('work that takes longer is an error, or what the caller makes of it', async () => {
  await expect(within(1, never)).rejects.toThrow('no answer within 1 ms');
  expect(await within(1, never, () => 'late')).toBe('late');
  const refused = within(1, never, () => {
    throw new Error('tell the operator');
  });
  await expect(refused).rejects.toThrow('tell the operator');
});
