import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { localAccess } from '../../../../src/targets/host/connect/local-access.ts';
import type { Host } from '../../../../src/targets/host/system.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { createHostTargets } from '../../../support/targets.ts';

/** Stands in for systemctl, whose manager cannot run here: answers from a file, and writes down what it was told. */
let dir: string;
let host: Host;
const options = { timeoutMs: 20_000, signal: new AbortController().signal };

beforeEach(() => {
  dir = scratchDir();
  const systemctl = join(dir, 'systemctl');
  writeFileSync(
    systemctl,
    `#!/bin/sh
echo "$@" >> ${dir}/told
case "$*" in
  *restart*) [ -f ${dir}/refuses ] && { echo "Access denied" >&2; exit 4; }; cp ${dir}/after ${dir}/now; exit 0 ;;
  show*) cat ${dir}/now ;;
esac
`,
  );
  chmodSync(systemctl, 0o755);
  host = createHostTargets(
    [
      {
        name: 'web-1',
        kind: 'host',
        domain: 'docker',
        environment: 'test',
        aliases: [],
        roots: [{ path: dir, patch: false }],
        services: [{ name: 'web', kind: 'systemd', unit: 'shop-web.service' }],
        curlHosts: [],
        watch: [],
      },
    ],
    { access: localAccess, deniedPorts: [], systemctl, steadySeconds: 0 },
  ).host('web-1');
});

const shows = (file: string, pid: number, active: string, sub: string, extra = ''): void =>
  writeFileSync(
    join(dir, file),
    `LoadState=loaded\nActiveState=${active}\nSubState=${sub}\nMainPID=${pid}\nNRestarts=3\nResult=success\n${extra}`,
  );

test.each([
  ['active', 'running', process.pid, 'running'],
  ['activating', 'auto-restart', 0, 'restarting'],
  ['failed', 'failed', 0, 'failed'],
  ['inactive', 'dead', 0, 'stopped'],
])('%s (%s) is told as it is', async (active, sub, pid, state) => {
  shows('now', pid, active, sub);
  expect(await host.service('web', options)).toMatchObject({
    state,
    mainPid: pid || null,
    restarts: 3,
    declared: 'shop-web.service',
  });
});

test('a unit that is not there, and a manager that does not answer, are said', async () => {
  writeFileSync(join(dir, 'now'), 'LoadState=not-found\nActiveState=inactive\nSubState=dead\nMainPID=0\n');
  await expect(host.service('web', options)).rejects.toMatchObject({ code: 'GONE' });
  writeFileSync(join(dir, 'systemctl'), '#!/bin/sh\necho "Failed to connect to bus" >&2; exit 1\n');
  await expect(host.service('web', options)).rejects.toMatchObject({ code: 'HOST_SYSTEMD' });
});

test('restarts exactly the declared unit, and says what systemctl says when it refuses', async () => {
  shows('now', 0, 'failed', 'failed');
  shows('after', process.pid, 'active', 'running');
  const guard = {
    machine: await host.machine.identity(),
    service: 'web',
    declared: 'shop-web.service',
    steady: null,
  };
  const deadline = { clock: await host.machine.clock(), withinMs: 20_000 };
  expect(await host.restart(guard, deadline, options)).toMatchObject({ kind: 'succeeded' });
  expect(readFileSync(join(dir, 'told'), 'utf8')).toContain('--no-ask-password restart shop-web.service\n');
  writeFileSync(join(dir, 'refuses'), '');
  expect(await host.restart(guard, deadline, options)).toMatchObject({
    kind: 'failed',
    text: expect.stringContaining('Access denied'),
  });
});

test('a command that hangs is ended as a whole, and nobody says that it did not run', async () => {
  writeFileSync(join(dir, 'systemctl'), '#!/bin/sh\nsleep 61.73 & wait\n');
  const guard = {
    machine: await host.machine.identity(),
    service: 'web',
    declared: 'shop-web.service',
    steady: null,
  };
  const hurried = { ...options, timeoutMs: 1_000 };
  const deadline = { clock: await host.machine.clock(), withinMs: 20_000 };
  expect(await host.restart(guard, deadline, hurried)).toMatchObject({ kind: 'unknown' });
  expect(spawnSync('pgrep', ['-f', '^sleep 61.73']).status).toBe(1);
});
