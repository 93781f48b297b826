import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { localMachine } from '../../../../src/targets/host/connect/local-machine.ts';
import { programVersion } from '../../../../src/targets/host/connect/program-version.ts';
import { hostFacts } from '../../../../src/targets/host/facts.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { createHostTargets } from '../../../support/targets.ts';

const options = () => ({ timeoutMs: 5_000, signal: AbortSignal.timeout(5_000) });

test('a host’s system is its distribution, kernel and architecture, and the program of each service that runs', async () => {
  const dir = scratchDir();
  const service = (name: string, pid: number | null) => {
    const pidFile = join(dir, `${name}.pid`);
    if (pid !== null) writeFileSync(pidFile, `${pid}\n`);
    return { name, kind: 'command', restart: ['/bin/true'], pidFile } as const;
  };
  const hosts = createHostTargets(
    [
      {
        name: 'shop-host',
        kind: 'host',
        domain: 'docker',
        environment: 'test',
        aliases: [],
        roots: [],
        services: [
          service('orders', process.pid),
          service('down', null),
          { name: 'unheard-of', kind: 'systemd', unit: 'unheard-of-by-anybody.service' },
        ],
        curlHosts: [],
        watch: [],
      },
    ],
    { access: {} as never, deniedPorts: [] },
  );
  const facts = await hostFacts(hosts.host('shop-host'));
  expect(Object.keys(facts).toSorted()).toEqual(['architecture', 'kernel', 'os', 'service orders']);
  expect(facts['service orders']).toMatch(
    new RegExp(`^${basename(process.execPath)} \\d*:?${process.versions.node}`),
  );
});

test('a process that is gone has no program', async () => {
  expect(await programVersion(localMachine, 2 ** 22 + 1, options())).toBeNull();
});
