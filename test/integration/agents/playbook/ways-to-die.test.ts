import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../../../src/core/diagnosis.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { localAccess } from '../../../../src/targets/host/connect/local-access.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { createHostTargets } from '../../../support/targets.ts';
import { hostTarget } from '../../targets/host/host-rig.ts';
import { liveIncident } from './live-incident.ts';
import { WAYS_TO_DIE } from './ways-to-die.ts';

const tools = createRegistry(allTools);
let runbooks: readonly Runbook[];
let holder: Server;

beforeAll(async () => {
  const loaded = await loadRunbooks(fileURLToPath(new URL('../../../../runbooks', import.meta.url)), {
    tools,
  });
  expect(loaded.problems).toEqual([]);
  // A process that has ended does not come back between two looks.
  runbooks = loaded.runbooks.map((runbook) => ({
    ...runbook,
    steps: runbook.steps.map((step) => ({ ...step, waitMs: 0 })),
  }));
  holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
});
afterAll(() => {
  holder.close();
});

/** Runs it to its end, as its supervisor would: a pid file, and both outputs in its log. */
async function died(dir: string, script: string): Promise<void> {
  for (const folder of ['app', 'logs', 'run']) mkdirSync(join(dir, folder));
  const log = openSync(join(dir, 'logs', 'gateway.log'), 'a');
  const { port } = holder.address() as AddressInfo;
  const child = spawn('/bin/sh', ['-c', script], {
    cwd: dir,
    stdio: ['ignore', log, log],
    env: { PATH: '/usr/bin:/bin', NODE: process.execPath, PORT: String(port), LC_ALL: 'C' },
  });
  writeFileSync(join(dir, 'run', 'gateway.pid'), `${child.pid}\n`);
  await once(child, 'exit');
}

async function diagnosed(
  dir: string,
): Promise<{ readonly diagnosis: Diagnosis; readonly proposed: readonly string[] }> {
  const hosts = createHostTargets(
    [
      {
        name: hostTarget.name,
        kind: 'host',
        domain: 'docker',
        environment: 'test',
        aliases: [],
        roots: [
          { path: join(dir, 'app'), patch: true },
          { path: join(dir, 'logs'), patch: false },
        ],
        services: [
          {
            name: 'gateway',
            kind: 'command',
            restart: ['/bin/true'],
            pidFile: join(dir, 'run', 'gateway.pid'),
          },
        ],
        curlHosts: [],
        watch: [],
      },
    ],
    { access: localAccess, deniedPorts: [], steadySeconds: 0.5 },
  );
  const live = liveIncident({
    readUrl: 'postgres://127.0.0.1:9/none',
    actUrl: 'postgres://127.0.0.1:9/none',
    on: { target: hostTarget, ports: hosts.ports },
    tools,
    runbooks,
    incident: { alertName: 'HostServiceDown', title: 'The service gateway is down on web-1' },
  });
  const { diagnosis } = await live.triageAndDiagnose();
  await live.plan(diagnosis);
  await live.close();
  return { diagnosis, proposed: live.proposals.map(({ tool }) => tool) };
}

describe('the ways in which a process ends', () => {
  it('are at least 60, each of its own', () => {
    expect(new Set(WAYS_TO_DIE.map(({ name }) => name)).size).toBeGreaterThanOrEqual(120);
    expect(new Set(WAYS_TO_DIE.map(({ script }) => script)).size).toBe(WAYS_TO_DIE.length);
  });

  it.each(WAYS_TO_DIE.map((way) => [way.name, way] as const))('%s', async (_name, way) => {
    const dir = scratchDir();
    await died(dir, way.script);
    const { diagnosis, proposed } = await diagnosed(dir);
    const { verdict, rootCause } = diagnosis;
    expect(verdict, rootCause).toBe(way.cause === null ? 'cannot_tell' : 'cause_found');
    expect(rootCause).toMatch(way.tells ?? way.cause ?? /gateway/);
    // Nothing is started for a reason that a start does not mend.
    expect(proposed, rootCause).toEqual(way.start === true ? ['restart_service'] : []);
    expect(rootCause).not.toMatch(/[.]pid|not filled in/);
  });
});
