import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { localAccess } from '../../../src/app/host-access.ts';
import { createHostTargets } from '../../../src/infra/host/create-host-targets.ts';
import { loadRunbooks } from '../../../src/memory/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../src/memory/runbooks/runbook.ts';
import { allTools } from '../../../src/tools/all.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { noHosts } from '../../support/no-hosts.ts';
import { hostTarget, type ScratchHost, scratchHost } from '../host/host-rig.ts';
import { type LiveIncident, liveIncident } from './live-incident.ts';

const tools = createRegistry(allTools);
let runbooks: readonly Runbook[];
let host: ScratchHost;
let live: LiveIncident;

beforeAll(async () => {
  const dir = fileURLToPath(new URL('../../../runbooks', import.meta.url));
  const loaded = await loadRunbooks(dir, { tools });
  expect(loaded.problems).toEqual([]);
  // What they wait for is real in the product; here a service that is not back after a second is down.
  runbooks = loaded.runbooks.map((runbook) => ({
    ...runbook,
    steps: runbook.steps.map((step) => ({ ...step, waitMs: Math.min(step.waitMs, 1_000) })),
  }));
});
afterEach(async () => {
  host.stop();
  await live.close();
});

function open(alertName: string): void {
  host = scratchHost();
  const hosts = createHostTargets([host.config], {
    access: localAccess,
    deniedPorts: [],
    steadySeconds: 0.5,
  });
  live = liveIncident({
    readUrl: 'postgres://127.0.0.1:9/none',
    actUrl: 'postgres://127.0.0.1:9/none',
    on: { target: hostTarget, ports: { ...noHosts, host: hosts } },
    tools,
    runbooks,
    incident: { alertName, title: alertName },
  });
}

async function steady(): Promise<void> {
  host.start();
  await expect.poll(() => host.pid()).toBeDefined();
  await new Promise((resolve) => setTimeout(resolve, 700));
}

const app = (name: string): string => join(host.dir, 'app', name);

describe('the runbooks of hosts, on a real service and real files', () => {
  test('a service that is down is started again, and seen to run', async () => {
    open('HostServiceDown');
    await steady();
    host.stop();
    writeFileSync(join(host.dir, 'logs', 'worker.log'), 'INFO working\n');
    const { diagnosis } = await live.triageAndDiagnose();
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', category: 'service_down', unknown: [] });
    expect(diagnosis.rootCause).toContain('worker is down');
    expect(await live.plan(diagnosis)).toMatchObject({ kind: 'proposed' });
    expect(live.proposals.map(({ tool, input }) => ({ tool, input }))).toEqual([
      { tool: 'restart_service', input: { service: 'worker' } },
    ]);
    expect((await live.approve()).state).toBe('succeeded');
    expect(await live.verify()).toBe('fixed');
    expect(host.pid()).toBeDefined();
  });

  test('a bad change of its configuration is taken back, then the service is started', async () => {
    open('HostServiceDown');
    await steady();
    writeFileSync(app('worker.conf.bak'), readFileSync(app('worker.conf')));
    writeFileSync(app('worker.conf'), 'name=worker\nworkers=many\nlevel=info\n');
    await expect.poll(() => host.pid()).toBeUndefined();
    const { diagnosis } = await live.triageAndDiagnose();
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', category: 'bad_configuration' });
    expect(await live.plan(diagnosis)).toMatchObject({ kind: 'proposed' });
    expect(live.proposals.at(-1)).toMatchObject({ tool: 'apply_patch' });
    const patched = await live.approve();
    expect(patched.state).toBe('succeeded');
    expect(readFileSync(app('worker.conf'), 'utf8')).toContain('workers=4');
    // Nobody starts it again by itself here: not fixed yet, so the next round looks again.
    live.nextRound([patched]);
    const again = await live.triageAndDiagnose();
    expect(again.diagnosis).toMatchObject({ verdict: 'cause_found', category: 'service_down' });
    await live.plan(again.diagnosis);
    expect(live.proposals.at(-1)).toMatchObject({ tool: 'restart_service' });
    expect((await live.approve()).state).toBe('succeeded');
    expect(await live.verify()).toBe('fixed');
  });

  test('a log that fills the disk is traced to its service, whose restart ends it', async () => {
    open('HostOutOfDiskSpace');
    // A loop that a restart ends: it writes as fast as it can while the file `stuck` was there when it began.
    writeFileSync(
      join(host.dir, 'service.sh'),
      `dir="$1"
if [ -f "$dir/stuck" ]; then rm "$dir/stuck"
  while true; do head -c 65536 /dev/zero | tr '\\0' 'x' >> "$dir/logs/worker.log"; echo >> "$dir/logs/worker.log"; sleep 0.2; done
fi
while true; do echo fine >> "$dir/logs/worker.log"; sleep 0.2; done
`,
    );
    writeFileSync(join(host.dir, 'stuck'), '');
    await steady();
    const { diagnosis } = await live.triageAndDiagnose();
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', category: 'disk_filling_log', unknown: [] });
    expect(diagnosis.rootCause).toMatch(/worker writes .*worker\.log at/);
    await live.plan(diagnosis);
    expect(live.proposals.at(-1)).toMatchObject({ tool: 'restart_service', input: { service: 'worker' } });
    expect((await live.verifyOnce()).some((check) => check.holds === false)).toBe(true);
    expect((await live.approve()).state).toBe('succeeded');
    expect(await live.verify()).toBe('fixed');
  });

  test.each(['HostServiceDown', 'HostConfigurationError'])(
    'a host on which all is well is given no cause for %s',
    async (alert) => {
      open(alert);
      await steady();
      const { diagnosis } = await live.triageAndDiagnose();
      expect(diagnosis).toMatchObject({ verdict: 'healthy', unknown: [] });
      expect(await live.plan(diagnosis)).toMatchObject({ kind: 'none' });
    },
  );
});
