import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { toolsOf } from '../../../../src/agents/claude/role-tools.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { connectHost } from '../../../../src/targets/host/connect/connect-host.ts';
import { sshMachine } from '../../../../src/targets/host/connect/ssh/remote-machine.ts';
import { checkHost } from '../../../../src/targets/host/doctor.ts';
import { host as hostKind } from '../../../../src/targets/host/kind.ts';
import type { Machine } from '../../../../src/targets/host/machine.ts';
import type { Host } from '../../../../src/targets/host/system.ts';
import { connectSystems } from '../../../../src/targets/systems.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { type Line, lineTo, loginTo, type Sshd, startSshd } from '../../../support/sshd.ts';
import { type HostRig, hostRig, hostTarget, scratchHost } from './host-rig.ts';

/** The real gate, ledger and database; the host is reached over ssh by a line that can be cut. */
let sshd: Sshd;
let line: Line;
let machine: Machine;
let rig: HostRig;
beforeAll(async () => {
  sshd = await startSshd();
  line = await lineTo(sshd.port);
  machine = sshMachine(loginTo(sshd, { port: line.port }));
  rig = await hostRig({ machine, refuses: { apply_patch: 'Over ssh no file is changed.' } });
});
beforeEach(async () => {
  await rig.core.sql`DELETE FROM rate_claim`;
  await rig.core.sql`UPDATE action SET state = 'failed' WHERE state IN ('started', 'unknown')`;
  await running();
});
afterAll(async () => {
  await rig.stop();
  await machine.close();
  await line.close();
  await sshd.stop();
});

const options = () => ({ timeoutMs: 40_000, signal: new AbortController().signal });
const file = (name: string): string => join(rig.host.dir, name);

async function running(): Promise<void> {
  rig.host.start();
  await expect
    .poll(async () => {
      const status = await rig.call('validator', 'service_status', { service: 'worker' });
      return status.kind === 'ok' && (status.data as { running: boolean }).running;
    })
    .toBe(true);
}

test('a service is restarted once after the approval, and its state is read again over ssh', async () => {
  const before = rig.host.pid();
  const action = await rig.propose('restart_service', { service: 'worker' });
  expect(action).toMatchObject({ state: 'proposed', guard: { steady: { main_pid: before } } });
  expect(rig.host.restarts()).toBe(0);
  const ran = await rig.execute(await rig.approve(action));
  expect(ran).toMatchObject({ kind: 'ran', outcome: { kind: 'succeeded' } });
  expect(rig.host.restarts()).toBe(1);
  expect(rig.host.pid()).not.toBe(before);
  await expect
    .poll(async () => (await rig.call('validator', 'service_status', { service: 'worker' })) as object)
    .toMatchObject({ data: { running: true, main_pid: rig.host.pid() } });
  // Who asks again is told how it ended.
  await rig.execute(action);
  expect(rig.host.restarts()).toBe(1);
});

test('what was approved for another process is void', async () => {
  const action = await rig.approve(await rig.propose('restart_service', { service: 'worker' }));
  await running();
  expect(await rig.execute(action)).toMatchObject({ kind: 'not_run', why: 'void' });
  expect(rig.host.restarts()).toBe(0);
});

describe('a line that is cut in the middle of a restart', () => {
  afterEach(() => rmSync(file('slow'), { force: true }));

  test('leaves it unknown; the service itself says that it was done, and it is not done again', async () => {
    const before = rig.host.pid();
    const action = await rig.approve(await rig.propose('restart_service', { service: 'worker' }));
    writeFileSync(file('slow'), '');
    const running = rig.execute(action);
    await expect.poll(() => rig.host.restarts() === 1 && rig.host.pid() !== before).toBe(true);
    line.cut();
    expect(await running).toMatchObject({
      kind: 'ran',
      outcome: { kind: 'unknown', text: expect.stringContaining('connection to 127.0.0.1 broke') },
    });
    const none = {
      claimed: async () => undefined,
      released: async () => undefined,
      ended: async () => undefined,
    };
    // Nobody looks before it can take effect no more.
    expect(await rig.core.gate.settle(action, none, options().signal)).toMatchObject({ kind: 'later' });
    await rig.core.sql`UPDATE action SET done_by = clock_timestamp() WHERE id = ${action.id}`;
    expect(await rig.core.gate.settle(action, none, options().signal)).toMatchObject({
      outcome: { kind: 'succeeded', text: expect.stringContaining('took effect') },
    });
    await rig.execute(action);
    expect(rig.host.restarts()).toBe(1);
  });
});

test('a host that is away when it would begin is a failure of which nothing ran', async () => {
  const other = await startSshd();
  const away = sshMachine(loginTo(other));
  const host = connectHost(rig.host.config, { machine: away, deniedPorts: [], steadySeconds: 0 });
  const state = await host.service('worker', options());
  const guard = { machine: '', service: 'worker', declared: state.declared, steady: null };
  const deadline = { clock: await away.clock(), withinMs: 60_000 };
  await other.stop();
  await away.close();
  await expect(host.restart(guard, deadline, options())).rejects.toMatchObject({ code: 'HOST_AWAY' });
  expect(rig.host.restarts()).toBe(0);
});

describe('the last check on the host itself', () => {
  const restart = async (
    steady: { main_pid: number; started_at: string } | null,
    deadline: { clock: string | null; withinMs: number },
    on: Host = connectHost(rig.host.config, { machine, deniedPorts: [], steadySeconds: 0 }),
  ) => on.restart({ machine: '', service: 'worker', declared: '', steady }, deadline, options());

  test('too late, after a reboot, or for another process, nothing is done', async () => {
    const clock = await machine.clock();
    const late = { kind: 'failed', text: expect.stringContaining('deadline') };
    expect(await restart(null, { clock, withinMs: 0 })).toMatchObject(late);
    const rebooted = `${'0'.repeat(8)}${clock?.slice(8)}`;
    expect(await restart(null, { clock: rebooted, withinMs: 60_000 })).toMatchObject(late);
    const pid = rig.host.pid() ?? 0;
    const moved = { kind: 'failed', text: expect.stringContaining('another by now') };
    expect(await restart({ main_pid: pid, started_at: 'boot/1' }, { clock, withinMs: 60_000 })).toMatchObject(
      moved,
    );
    expect(
      await restart({ main_pid: 2 ** 22 + 1, started_at: 'boot/1' }, { clock, withinMs: 60_000 }),
    ).toMatchObject(moved);
    expect(rig.host.restarts()).toBe(0);
  });

  test('the same process in time is restarted, and a program that is not there is said', async () => {
    const clock = await machine.clock();
    const { mainPid, startedAt } = await connectHost(rig.host.config, { machine, deniedPorts: [] }).service(
      'worker',
      options(),
    );
    const steady = { main_pid: mainPid ?? 0, started_at: startedAt ?? '' };
    const [service] = rig.host.config.services;
    if (service?.kind !== 'command') throw new Error('no service');
    const config = { ...rig.host.config, services: [{ ...service, restart: ['/not/there', 'x'] }] };
    const gone = connectHost(config, { machine, deniedPorts: [] });
    expect(await restart(steady, { clock, withinMs: 60_000 }, gone)).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('cannot be started'),
    });
    expect(await restart(steady, { clock, withinMs: 60_000 })).toMatchObject({ kind: 'succeeded' });
    expect(rig.host.restarts()).toBe(1);
  });

  test('a command that does not end in its time is ended on the host, and nobody says that it did not run', async () => {
    writeFileSync(file('slow'), '');
    const clock = await machine.clock();
    const host = connectHost(rig.host.config, { machine, deniedPorts: [], steadySeconds: 0 });
    const guard = { machine: '', service: 'worker', declared: '', steady: null };
    const hurried = { ...options(), timeoutMs: 1_000 };
    expect(await host.restart(guard, { clock, withinMs: 60_000 }, hurried)).toMatchObject({
      kind: 'unknown',
    });
    rmSync(file('slow'));
  });
});

describe('a unit of systemd, spoken to by a stand-in for systemctl, as systemd is not process 1 here', () => {
  test.each([false, true])('is shown and restarted by exactly its name (sudo: %s)', async (sudo) => {
    const dir = scratchDir();
    const systemctl = join(dir, 'systemctl');
    writeFileSync(
      systemctl,
      `#!/bin/sh
echo "$(id -u) $*" >> ${dir}/told
case "$*" in
  *restart*) [ -f ${dir}/refuses ] && { echo "Access denied" >&2; exit 4; }; exit 0 ;;
  show*) printf 'Id=shop-web.service\\nLoadState=loaded\\nActiveState=active\\nSubState=running\\nMainPID=${process.pid}\\nNRestarts=3\\nResult=success\\n' ;;
esac
`,
    );
    chmodSync(systemctl, 0o755);
    const over = sshMachine(loginTo(sshd, { sudo }));
    const services = [{ name: 'web', kind: 'systemd', unit: 'shop-web.service' } as const];
    const host = connectHost({ ...rig.host.config, services }, { machine: over, deniedPorts: [], systemctl });
    expect(await host.service('web', options())).toMatchObject({
      state: 'running',
      mainPid: process.pid,
      restarts: 3,
      keys: ['unit shop-web.service'],
    });
    const guard = { machine: '', service: 'web', declared: 'shop-web.service', steady: null };
    const deadline = { clock: await over.clock(), withinMs: 60_000 };
    expect(await host.restart(guard, deadline, options())).toMatchObject({ kind: 'succeeded' });
    const told = readFileSync(join(dir, 'told'), 'utf8');
    expect(told.match(/--no-ask-password restart shop-web\.service\n/g)).toHaveLength(1);
    if (sudo) expect(told).toContain('0 --no-ask-password restart');
    writeFileSync(join(dir, 'refuses'), '');
    expect(await host.restart(guard, deadline, options())).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('Access denied'),
    });
    await over.close();
  });

  test('where there is none, it says so', async () => {
    const services = [{ name: 'web', kind: 'systemd', unit: 'shop-web.service' } as const];
    const host = connectHost(
      { ...rig.host.config, services },
      { machine, deniedPorts: [], systemctl: '/no/systemctl' },
    );
    await expect(host.service('web', options())).rejects.toMatchObject({ code: 'HOST_SYSTEMD' });
  });
});

test('a patch over ssh is refused with the reason, and nothing is written', async () => {
  const diff =
    '--- a/worker.conf\n+++ b/worker.conf\n@@ -1,3 +1,3 @@\n name=worker\n-workers=4\n+workers=8\n level=info\n';
  const refused = await rig.call('surgeon', 'apply_patch', { file_path: 'worker.conf', diff });
  expect(refused).toMatchObject({
    kind: 'refused',
    code: 'WRONG_TARGET',
    reason: expect.stringContaining('no file is changed'),
  });
  expect(existsSync(file('app/worker.conf.bak'))).toBe(false);
  // Also where somebody forgot to leave it out of what is offered.
  const unguarded = await hostRig({ machine, host: rig.host, database: rig.database });
  await expect(unguarded.propose('apply_patch', { file_path: 'worker.conf', diff })).rejects.toThrow(
    /following links/,
  );
  await unguarded.core.stop();
});

test('a role is offered no tool to patch it, and every other one', async () => {
  const names = (refuses: Record<string, string>) =>
    toolsOf('surgeon', allTools, [hostTarget.name], { domain: 'docker', targetKind: 'host', refuses }).map(
      ({ name }) => name,
    );
  const [local, remote] = [names({}), names({ apply_patch: 'no', undo_patch: 'no' })];
  expect(local).toEqual(expect.arrayContaining(['apply_patch', 'undo_patch', 'restart_service']));
  expect(remote).toEqual(local.filter((name) => !name.endsWith('_patch')));
});

test('a configured host over ssh is a target that has no tools to patch, and the local one has', async () => {
  const { config } = scratchHost();
  const target = (more: object) =>
    connectSystems([hostKind], [{ ...config, ...more }], { ownPorts: [] }).targets.get(hostTarget.name);
  expect(Object.keys(target({ ssh: loginTo(sshd) })?.refuses ?? {})).toEqual(['apply_patch', 'undo_patch']);
  expect(target({})?.refuses).toBeUndefined();
});

describe('its health', () => {
  const check = (more: Partial<Parameters<typeof checkHost>[0]>, login = loginTo(sshd)) => {
    const config = { ...rig.host.config, roots: [{ path: file('logs'), patch: false }], ssh: login, ...more };
    const over = sshMachine(login);
    return checkHost(
      config,
      connectHost(config, { machine: over, deniedPorts: [], steadySeconds: 0 }),
    ).finally(() => over.close());
  };

  test('is said in a line', async () => {
    expect(await check({})).toMatch(/@127\.0\.0\.1 over ssh; 1 folder; worker running$/);
  });

  test('names the folder that is not there, and what sudo does not let run', async () => {
    await expect(check({ roots: [{ path: '/srv/not-there', patch: false }] })).rejects.toMatchObject({
      code: 'HOST',
      message: expect.stringContaining('/srv/not-there'),
    });
    const services = [
      { name: 'x', kind: 'command', restart: ['/not/there'], pidFile: '/run/x.pid' } as const,
    ];
    await expect(check({ services }, loginTo(sshd, { sudo: true }))).rejects.toMatchObject({
      message: expect.stringMatching(/may not run by sudo.*\/not\/there/),
    });
  });

  test('a host key that differs is told as such', async () => {
    const login = loginTo(sshd, { hostKeys: [{ fingerprint: `SHA256:${'A'.repeat(43)}`, type: null }] });
    await expect(check({}, login)).rejects.toMatchObject({ code: 'HOST_KEY_DIFFERS' });
  });
});
