import { expect, test } from 'vitest';
import { OpsError } from '../../../../src/core/errors.ts';
import { type RestartPlan, restartService } from '../../../../src/targets/host/connect/restart-service.ts';
import type { Machine } from '../../../../src/targets/host/machine.ts';

/** A restart that ends with this code, after which the service cannot be looked at. */
function restarted(exitCode: number) {
  const machine = { restart: async () => ({ exitCode, output: '' }) } as unknown as Machine;
  const plan: RestartPlan = {
    machine,
    argv: ['/usr/local/bin/restart'],
    guard: { machine: 'web-1', service: 'worker', declared: 'worker', steady: null },
    deadline: { clock: null, withinMs: 60_000 },
    capture: true,
    state: async () => {
      throw new OpsError('HOST_AWAY', 'The connection to web-1 broke.', { hint: 'Try it again.' });
    },
  };
  return restartService(plan, { timeoutMs: 20_000, signal: new AbortController().signal });
}

test('what was restarted was, also when nobody can look at it afterwards', async () => {
  expect(await restarted(0)).toEqual({
    kind: 'succeeded',
    text: expect.stringContaining('how it is now could not be read: The connection to web-1 broke.'),
  });
});

test.each([75, 76, 77])('code %i is the command’s own: nothing says that it did nothing', async (code) => {
  expect(await restarted(code)).toEqual({
    kind: 'failed',
    text: `The restart of worker ended with exit code ${code}.`,
  });
});
