import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectHost } from '../../../../src/targets/host/connect/connect-host.ts';
import { hostUsual } from '../../../../src/targets/host/usual.ts';
import { readUsual } from '../../../../src/targets/read-usual.ts';
import { type ScratchHost, scratchHost } from './host-rig.ts';

let scratch: ScratchHost;
beforeEach(() => {
  scratch = scratchHost();
});
afterEach(() => scratch.stop());

const target = { name: 'web-1', kind: 'host', domain: 'docker', environment: 'test', aliases: [] } as const;
const look = (system: unknown) => readUsual(target, hostUsual, system, new AbortController().signal);

test('a host tells its load, and how much of its memory and its disk is used', async () => {
  const { numbers, unread } = await look(connectHost(scratch.config, { deniedPorts: [], steadySeconds: 0 }));
  expect(unread).toEqual([]);
  const now = Object.fromEntries(numbers.map((each) => [each.name, each.now]));
  expect(now['load']).toBeGreaterThanOrEqual(0);
  expect(now['memory_used']).toBeGreaterThan(0);
  expect(now['memory_used']).toBeLessThanOrEqual(100);
  expect(now['disk_used']).toBeGreaterThanOrEqual(0);
  expect(now['disk_used']).toBeLessThanOrEqual(100);
  // Without swap there is none to be used.
  expect('swap_used' in now).toBe(true);
});

test('what cannot be read takes its own numbers with it, and says why', async () => {
  const broken = connectHost(scratch.config, { deniedPorts: [], steadySeconds: 0 });
  const run: typeof broken.access.run = async (...given) => {
    if (/\bdf\b/.test(JSON.stringify(given))) throw new Error('df is not there');
    return broken.access.run(...given);
  };
  const { numbers, unread } = await look({ ...broken, access: { ...broken.access, run } });
  expect(unread).toEqual(['fullest file system used: df is not there']);
  expect(numbers.find(({ name }) => name === 'disk_used')?.now).toBeNull();
  expect(numbers.find(({ name }) => name === 'memory_used')?.now).not.toBeNull();
});
