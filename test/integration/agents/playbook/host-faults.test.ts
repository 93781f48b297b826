import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ShopFault } from '../../../../playground/faults/fault.ts';
import { hostFaults } from '../../../../playground/faults/host/host-faults.ts';
import { type ShopHost, startShopHost } from '../../../../playground/faults/host/shop-host.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { localAccess } from '../../../../src/targets/host/connect/local-access.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { createHostTargets } from '../../../support/targets.ts';
import { hostTarget } from '../../targets/host/host-rig.ts';
import { type LiveIncident, liveIncident } from './live-incident.ts';

const tools = createRegistry(allTools);
let runbooks: readonly Runbook[];
let host: ShopHost;
let faults: readonly ShopFault[];
let live: LiveIncident;

beforeAll(async () => {
  const dir = fileURLToPath(new URL('../../../../runbooks', import.meta.url));
  const loaded = await loadRunbooks(dir, { tools });
  expect(loaded.problems).toEqual([]);
  // A service that is not back after a second is down here; in the product it gets longer.
  runbooks = loaded.runbooks.map((runbook) => ({
    ...runbook,
    steps: runbook.steps.map((step) => ({
      ...step,
      waitMs: Math.min(step.waitMs, 700),
      with: step.call === 'list_files' ? { ...(step.with as object), watch_seconds: 1 } : step.with,
    })),
  }));
  host = await startShopHost(scratchDir());
  faults = hostFaults(host);
});
afterEach(() => live.close());
afterAll(() => host.kill());

async function caused(id: string): Promise<ShopFault> {
  const fault = faults.find((each) => each.id === id);
  if (!fault) throw new Error(`no fault ${id}`);
  open(fault.rule.alertname);
  await fault.cause();
  await expect.poll(async () => (await fault.read()).holds).toBe(true);
  return fault;
}

function open(alertName: string): void {
  const hosts = createHostTargets(
    [
      {
        name: hostTarget.name,
        kind: 'host',
        domain: 'docker',
        environment: 'test',
        aliases: [],
        roots: [
          { path: join(host.dir, 'app'), patch: true },
          { path: join(host.dir, 'logs'), patch: false },
        ],
        services: [{ name: 'shop-worker', kind: 'command', restart: host.restart, pidFile: host.pidFile }],
        curlHosts: [],
        watch: [],
      },
    ],
    { access: localAccess, deniedPorts: [], steadySeconds: 0.5 },
  );
  live = liveIncident({
    readUrl: 'postgres://127.0.0.1:9/none',
    actUrl: 'postgres://127.0.0.1:9/none',
    on: { target: hostTarget, ports: hosts.ports },
    tools,
    runbooks,
    incident: { alertName, title: alertName },
  });
}

async function over(fault: ShopFault): Promise<void> {
  await expect.poll(async () => (await fault.read()).holds).toBe(false);
}

describe('the runbooks of hosts, on a real service and real files', () => {
  test('a bad change of its configuration is taken back and the service started, by one plan', async () => {
    const fault = await caused('bad_configuration');
    const { triage, diagnosis } = await live.triageAndDiagnose();
    expect(triage).toMatchObject({ incidentType: 'bad_configuration', routine: true });
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', category: 'bad_configuration', unknown: [] });
    expect(await live.plan(diagnosis)).toMatchObject({ kind: 'proposed' });
    expect(live.proposals.at(-1)).toMatchObject({
      tool: 'apply_patch',
      proposal: { andThen: [{ tool: 'restart_service', input: { service: 'shop-worker' } }] },
    });
    expect((await live.verifyOnce()).some((check) => check.holds === false)).toBe(true);
    expect((await live.approve()).state).toBe('succeeded');
    expect(readFileSync(host.configFile, 'utf8')).toContain('workers=4');
    expect(await live.verify()).toBe('fixed');
    await over(fault);
  });

  // After the one before: the old change and its backup lie there still, and are not to blame this time.
  test('a service that is down is started again, and seen to run', async () => {
    // One that has said everything only once cannot be told from one that has just said why it ends.
    await expect
      .poll(() => readFileSync(`${host.dir}/logs/shop-worker.log`, 'utf8').split('mails sent').length)
      .toBeGreaterThan(2);
    const fault = await caused('service_down');
    const { diagnosis } = await live.triageAndDiagnose();
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', category: 'service_down', unknown: [] });
    expect(diagnosis.rootCause).toMatch(/^shop-worker is not running\. .* why it stopped is not known/);
    expect(diagnosis.unexplained).toBe('why shop-worker stopped');
    expect(await live.plan(diagnosis)).toMatchObject({ kind: 'proposed' });
    expect(live.proposals.map(({ tool, input }) => ({ tool, input }))).toEqual([
      { tool: 'restart_service', input: { service: 'shop-worker' } },
    ]);
    expect((await live.approve()).state).toBe('succeeded');
    expect(await live.verify()).toBe('fixed');
    await over(fault);
  });

  test('a log that fills the disk is traced to its service, whose restart ends it', async () => {
    const fault = await caused('log_fills_disk');
    const { diagnosis } = await live.triageAndDiagnose();
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', category: 'disk_filling_log', unknown: [] });
    expect(diagnosis.rootCause).toMatch(
      /shop-worker writes one line again and again into shop-worker\.log, .*ERROR mail 4711 refused/,
    );
    await live.plan(diagnosis);
    expect(live.proposals.at(-1)).toMatchObject({
      tool: 'restart_service',
      input: { service: 'shop-worker' },
    });
    expect((await live.verifyOnce()).some((check) => check.holds === false)).toBe(true);
    expect((await live.approve()).state).toBe('succeeded');
    expect(await live.verify()).toBe('fixed');
    await over(fault);
  });

  test.each(['HostServiceDown', 'HostConfigurationError', 'HostLogGrowsFast'])(
    'a host on which all is well is given no cause for %s',
    async (alert) => {
      open(alert);
      await expect.poll(() => host.isRunning()).toBe(true);
      const { diagnosis } = await live.triageAndDiagnose();
      // Whether the disk of the machine that tests is full is its own matter.
      expect(diagnosis.verdict).not.toBe('cause_found');
      expect(diagnosis.unknown).toEqual([]);
      expect(await live.plan(diagnosis)).toMatchObject({ kind: 'none' });
    },
  );
});
