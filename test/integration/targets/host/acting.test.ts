import { chmodSync, existsSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/core/tool-call.ts';
import { applyPlan } from '../../../../src/safety/diffs/apply-plan.ts';
import { restartServiceTool } from '../../../../src/targets/host/active/restart-service.ts';
import { localAccess } from '../../../../src/targets/host/connect/local-access.ts';
import type { ServiceGuard } from '../../../../src/targets/host/system.ts';
import { type Host } from '../../../../src/targets/host/system.ts';
import { createHostTargets, noDocs } from '../../../support/targets.ts';
import type { Row } from '../../../support/typed.ts';
import { type HostRig, hostRig, hostTarget, scratchHost } from './host-rig.ts';

let rig: HostRig;
let app: string;
let conf: string;
beforeAll(async () => {
  rig = await hostRig();
  app = join(rig.host.dir, 'app');
  conf = join(app, 'worker.conf');
});
beforeEach(async () => {
  await rig.core.sql`DELETE FROM rate_claim`;
  await rig.core.sql`UPDATE action SET state = 'failed' WHERE state IN ('started', 'unknown')`;
  writeFileSync(conf, GOOD);
});
afterAll(() => rig.stop());

const GOOD = 'name=worker\nworkers=4\nlevel=info\n';
const text = (path: string): string => readFileSync(path, 'utf8');
const patch = (from: string, to: string, file = 'worker.conf'): string =>
  `--- a/${file}\n+++ b/${file}\n@@ -1,3 +1,3 @@\n name=worker\n-${from}\n+${to}\n level=info\n`;
const mend = { file_path: 'worker.conf', diff: patch('workers=4', 'workers=8') };
async function running(): Promise<void> {
  rig.host.start();
  await expect
    .poll(async () => {
      const status = await rig.call('validator', 'service_status', { service: 'worker' });
      return status.kind === 'ok' && (status.data as { running: boolean }).running;
    })
    .toBe(true);
}

describe('apply_patch', () => {
  test('shows the diff, writes it once after the approval, keeps the old file, and can be taken back', async () => {
    const action = await rig.propose('apply_patch', mend);
    expect(action.command).toContain('-workers=4\n+workers=8');
    expect(text(conf)).toBe(GOOD);
    const ran = await rig.execute(await rig.approve(action));
    expect(ran).toMatchObject({ kind: 'ran', outcome: { kind: 'succeeded' } });
    expect(text(conf)).toContain('workers=8');
    expect(text(`${conf}.bak`)).toBe(GOOD);
    const [call] = await rig.core
      .sql<Row>`SELECT result FROM tool_call WHERE action_id = ${action.id} AND state = 'ok'`;
    const receipt = call?.['result'] as Record<string, Json>;
    expect(receipt).toMatchObject({ backup: 'worker.conf.bak', file_path: conf });

    expect(await rig.act('undo_patch', { ...receipt })).toMatchObject({ outcome: { kind: 'succeeded' } });
    expect(text(conf)).toBe(GOOD);
  });

  test('numbers the backups and overwrites none', async () => {
    writeFileSync(`${conf}.bak`, 'somebody else’s');
    await rig.act('apply_patch', mend);
    expect(text(`${conf}.bak`)).toBe('somebody else’s');
    expect(existsSync(`${conf}.bak.1`)).toBe(true);
  });

  test('is void when the file has changed since it was proposed', async () => {
    const action = await rig.approve(await rig.propose('apply_patch', mend));
    writeFileSync(conf, `${GOOD}more=1\n`);
    expect(await rig.execute(action)).toMatchObject({ kind: 'not_run', why: 'void', code: 'STATE_MOVED' });
    writeFileSync(conf, 'something else altogether\n');
    expect(await rig.execute(action)).toMatchObject({ kind: 'not_run', why: 'void', code: 'STATE_MOVED' });
    expect(text(conf)).toBe('something else altogether\n');
  });

  test('is void when the file has become executable, which is another risk', async () => {
    const action = await rig.approve(await rig.propose('apply_patch', mend));
    expect(action.risk).toBe('medium');
    chmodSync(conf, 0o755);
    expect(await rig.execute(action)).toMatchObject({ kind: 'not_run', why: 'void', code: 'STATE_MOVED' });
    expect(text(conf)).toBe(GOOD);
    chmodSync(conf, 0o644);
  });

  test('is not taken back under a card that knew it as no program', async () => {
    const ran = await rig.propose('apply_patch', mend);
    await rig.execute(await rig.approve(ran));
    const [call] = await rig.core
      .sql<Row>`SELECT result FROM tool_call WHERE action_id = ${ran.id} AND state = 'ok'`;
    const undo = await rig.approve(
      await rig.propose('undo_patch', { ...(call?.['result'] as Record<string, Json>) }),
    );
    chmodSync(conf, 0o755);
    expect(await rig.execute(undo)).toMatchObject({ kind: 'not_run', why: 'void', code: 'STATE_MOVED' });
    expect(text(conf)).toContain('workers=8');
    chmodSync(conf, 0o644);
  });

  test('overwrites nothing that is written at the very moment', async () => {
    const racing = await hostRig({
      host: rig.host,
      database: rig.database,
      access: {
        apply: (plan, options) =>
          applyPlan(plan, {
            beforeWrite: async (file) => {
              await options?.beforeWrite?.(file);
              writeFileSync(conf, 'written by a person\n');
            },
          }),
      },
    });
    expect(await racing.act('apply_patch', mend)).toMatchObject({ kind: 'ran', outcome: { kind: 'failed' } });
    expect(text(conf)).toBe('written by a person\n');
    await racing.core.stop();
  });

  test('after its deadline nothing is written', async () => {
    const late = await hostRig({
      host: rig.host,
      database: rig.database,
      access: {
        apply: async (plan, options) => {
          // As if the process had slept before the rename: the clock that it looks at is the machine's.
          const clock = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
          expect(clock).toBeGreaterThan(0);
          return applyPlan(plan, options);
        },
      },
    });
    const action = await late.approve(await late.propose('apply_patch', mend));
    const tool = late.core.gateDeps.registry.get('apply_patch');
    if (tool?.kind !== 'active') throw new Error('no tool');
    const context = {
      target: late.core.gateDeps.targets.get('web-1') as never,
      system: late.core.gateDeps.ports.system('web-1'),
      docs: noDocs,
      signal: new AbortController().signal,
      timeoutMs: 5_000,
    };
    const outcome = await tool.run(context, action.input, action.guard, {
      clock: (await tool.preflight(context, action.input)).clock,
      withinMs: 0,
    });
    expect(outcome).toMatchObject({ kind: 'failed', text: expect.stringContaining('deadline') });
    expect(text(conf)).toBe(GOOD);
    await late.core.stop();
  });

  test('undo touches nothing when the file has been changed since', async () => {
    const action = await rig.propose('apply_patch', mend);
    await rig.execute(await rig.approve(action));
    const [call] = await rig.core
      .sql<Row>`SELECT result FROM tool_call WHERE action_id = ${action.id} AND state = 'ok'`;
    const undo = await rig.propose('undo_patch', call?.['result'] as Json);
    writeFileSync(conf, 'changed by a person\n');
    expect(await rig.execute(await rig.approve(undo))).toMatchObject({
      kind: 'not_run',
      code: 'STATE_MOVED',
    });
    expect(text(conf)).toBe('changed by a person\n');
  });

  const outside = '--- a/../restart.sh\n+++ b/../restart.sh\n@@ -1,1 +1,1 @@\n-#!/bin/sh\n+#!/bin/bash\n';
  test.each([
    ['out of the root', { file_path: 'worker.conf', diff: outside }, 'DIFF_PATH'],
    [
      'another file than the one named',
      { file_path: 'worker.conf', diff: patch('a', 'b', 'other.conf') },
      'DIFF_PATH',
    ],
    [
      'a folder that may only be read',
      () => ({ ...mend, file_path: join(rig.host.dir, 'logs', 'worker.log') }),
      'PATH_OUTSIDE',
    ],
    ['a secret file', { file_path: '.env', diff: patch('a', 'b', '.env') }, 'PATH_SECRET'],
    [
      'a rename',
      {
        file_path: 'worker.conf',
        diff: 'diff --git a/worker.conf b/x\nrename from worker.conf\nrename to x\n',
      },
      'DIFF_RENAME',
    ],
    [
      'a mode',
      {
        file_path: 'worker.conf',
        diff: 'diff --git a/worker.conf b/worker.conf\nold mode 100644\nnew mode 100755\n',
      },
      'DIFF_MODE',
    ],
    [
      'a link',
      {
        file_path: 'l',
        diff: 'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n',
      },
      'DIFF_MODE',
    ],
    [
      'a deletion',
      {
        file_path: 'worker.conf',
        diff: '--- a/worker.conf\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-name=worker\n-workers=4\n-level=info\n',
      },
      'DIFF_DELETE',
    ],
    [
      'a text that reads backwards',
      { file_path: 'worker.conf', diff: patch('workers=4', 'workers=\u202e8') },
      'INPUT_HIDDEN_CHARACTERS',
    ],
    [
      'more than the card shows',
      { file_path: 'worker.conf', diff: `${mend.diff}${' x\n'.repeat(2_000)}` },
      'BAD_INPUT',
    ],
  ])('is not even proposed for %s', async (_what, given, code) => {
    const input = (typeof given === 'function' ? given() : given) as Json;
    expect(await rig.call('surgeon', 'apply_patch', input)).toMatchObject({ kind: 'refused', code });
  });

  test('follows no link, neither when it is proposed nor when it has become one', async () => {
    symlinkSync('/etc/hostname', join(app, 'linked.conf'));
    expect(
      (
        await rig.call('surgeon', 'apply_patch', {
          file_path: 'linked.conf',
          diff: patch('a', 'b', 'linked.conf'),
        })
      ).kind,
    ).not.toBe('proposed');
    const action = await rig.approve(await rig.propose('apply_patch', mend));
    writeFileSync(join(rig.host.dir, 'victim'), GOOD);
    renameSync(conf, `${conf}.away`);
    symlinkSync(join(rig.host.dir, 'victim'), conf);
    const result = await rig.execute(action).catch(() => ({ kind: 'not_run' }));
    expect(result.kind).toBe('not_run');
    expect(text(join(rig.host.dir, 'victim'))).toBe(GOOD);
    renameSync(`${conf}.away`, conf);
  });

  test('a password in the diff cannot be proposed', async () => {
    const token = ['xoxb', '1234567890', 'abcdefghijklmnop'].join('-');
    const result = await rig.call('surgeon', 'apply_patch', {
      ...mend,
      diff: patch('workers=4', `token=${token}`),
    });
    expect(result).toMatchObject({ kind: 'refused', code: 'SECRET_IN_PLAN' });
  });

  test('an executable is high risk', async () => {
    writeFileSync(join(app, 'run.sh'), GOOD);
    chmodSync(join(app, 'run.sh'), 0o755);
    const action = await rig.propose('apply_patch', {
      file_path: 'run.sh',
      diff: patch('workers=4', 'workers=1', 'run.sh'),
    });
    expect(action.risk).toBe('high');
  });
});

describe('restart_service', () => {
  test('ends the old process, starts a new one, and says which', async () => {
    await running();
    const before = rig.host.pid();
    const ran = await rig.act('restart_service', { service: 'worker' });
    expect(ran).toMatchObject({ kind: 'ran', outcome: { kind: 'succeeded' } });
    expect(rig.host.pid()).toBeDefined();
    expect(rig.host.pid()).not.toBe(before);
    expect(rig.host.restarts()).toBe(1);
  });

  test('what was approved for a service that was down ends none that runs by now', async () => {
    await running();
    rig.host.stop();
    await expect.poll(() => rig.host.pid()).toBeUndefined();
    const action = await rig.propose('restart_service', { service: 'worker' });
    expect(action).toMatchObject({ risk: 'low', blastRadius: expect.stringContaining('cuts nothing off') });
    await running();
    const hosts = createHostTargets([rig.host.config], {
      access: localAccess,
      deniedPorts: [],
      steadySeconds: 0.3,
    });
    // As if it had come up between the second look and the run.
    const context = {
      ...hosts.context(hostTarget.name, 20_000),
    };
    const deadline = { clock: await hosts.host(hostTarget.name).machine.clock(), withinMs: 60_000 };
    expect(
      await restartServiceTool.run(context, { service: 'worker' }, action.guard as ServiceGuard, deadline),
    ).toEqual({ kind: 'failed', text: 'Nothing was done: worker runs by now.' });
    expect(await rig.execute(await rig.approve(action))).toMatchObject({
      kind: 'not_run',
      why: 'void',
      code: 'NOT_TO_BLAME',
    });
    expect(rig.host.restarts()).toBe(0);
  });

  test('a second one within ten minutes is refused, with the time from which it may be done', async () => {
    await running();
    await rig.act('restart_service', { service: 'worker' });
    const again = await rig.call('surgeon', 'restart_service', { service: 'worker' });
    expect(again).toMatchObject({
      kind: 'refused',
      code: 'RATE_LIMITED',
      reason: expect.stringMatching(/again in [56]\d\d s, at \d\d:\d\d:\d\d UTC/),
    });
    expect(rig.host.restarts()).toBe(1);
    await rig.core.sql`UPDATE rate_claim SET claimed_at = claimed_at - interval '601 seconds'`;
    await running();
    expect((await rig.act('restart_service', { service: 'worker' })).kind).toBe('ran');
  });

  test('two approved before either ran: one runs, the other is told when', async () => {
    await running();
    const first = await rig.approve(await rig.propose('restart_service', { service: 'worker' }));
    const second = await rig.approve(await rig.propose('restart_service', { service: 'worker' }));
    expect((await rig.execute(first)).kind).toBe('ran');
    await running();
    // Another process by now: void. With the same process it would be the limit that refuses.
    expect((await rig.execute(second)).kind).toBe('not_run');
    expect(rig.host.restarts()).toBe(0);
  });

  test('the claim itself counts: what was approved before another one ran is refused, with the time', async () => {
    await running();
    // It fails before it touches the process, so that nothing but the limit stands against the second.
    writeFileSync(join(rig.host.dir, 'fail'), '');
    const first = await rig.approve(await rig.propose('restart_service', { service: 'worker' }));
    const second = await rig.approve(await rig.propose('restart_service', { service: 'worker' }));
    expect(await rig.execute(first)).toMatchObject({ kind: 'ran', outcome: { kind: 'failed' } });
    expect(await rig.execute(second)).toMatchObject({
      kind: 'not_run',
      why: 'refused',
      code: 'RATE_LIMITED',
      reason: expect.stringMatching(/At most 1 restart of worker in 10 minutes.* UTC/),
    });
    expect((await rig.core.records.action(second.id))?.state).toBe('approved');
    renameSync(join(rig.host.dir, 'fail'), join(rig.host.dir, 'failed'));
  });

  test('is void when the service has been restarted by somebody else', async () => {
    await running();
    const action = await rig.approve(await rig.propose('restart_service', { service: 'worker' }));
    await running();
    expect(await rig.execute(action)).toMatchObject({ kind: 'not_run', why: 'void', code: 'STATE_MOVED' });
    expect(rig.host.restarts()).toBe(0);
  });

  test('starts what is down, and is void once it came up by itself', async () => {
    rig.host.stop();
    await expect.poll(() => rig.host.pid()).toBeUndefined();
    const action = await rig.approve(await rig.propose('restart_service', { service: 'worker' }));
    expect(action.undo).toMatch(/^Stop worker again: .* nothing is lost/);
    expect(await rig.execute(action)).toMatchObject({ outcome: { kind: 'succeeded' } });
    expect(rig.host.pid()).toBeDefined();
    await rig.core.sql`DELETE FROM rate_claim`;
    await running();
    expect((await rig.propose('restart_service', { service: 'worker' })).undo).toMatch(/memory is gone/);
    await rig.core.sql`DELETE FROM action`;
    rig.host.stop();
    await expect.poll(() => rig.host.pid()).toBeUndefined();
    const next = await rig.approve(await rig.propose('restart_service', { service: 'worker' }));
    await running();
    expect(await rig.execute(next)).toMatchObject({ kind: 'not_run', why: 'void' });
  });

  test('says a command that fails, and that nothing runs afterwards', async () => {
    await running();
    writeFileSync(join(rig.host.dir, 'fail'), '');
    const ran = await rig.act('restart_service', { service: 'worker' });
    expect(ran).toMatchObject({ outcome: { kind: 'failed', text: expect.stringContaining('exit code 3') } });
    renameSync(join(rig.host.dir, 'fail'), join(rig.host.dir, 'failed'));
  });

  test('the deadline guard holds: too late, or another process, and nothing is done', async () => {
    await running();
    const action = await rig.approve(await rig.propose('restart_service', { service: 'worker' }));
    const host = rig.core.gateDeps.ports.system('web-1') as Host;
    const options = { timeoutMs: 20_000, signal: new AbortController().signal };
    const guard = action.guard as never;
    expect(
      await host.restart(guard, { clock: await host.machine.clock(), withinMs: 0 }, options),
    ).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('deadline'),
    });
    await running();
    expect(
      await host.restart(guard, { clock: await host.machine.clock(), withinMs: 30_000 }, options),
    ).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('another by now'),
    });
    expect(rig.host.restarts()).toBe(0);
  });

  test('a stale pid file is no running service', async () => {
    rig.host.stop();
    writeFileSync(join(rig.host.dir, 'run.pid'), `${process.pid}\n`);
    const { utimesSync } = await import('node:fs');
    utimesSync(join(rig.host.dir, 'run.pid'), 0, 0);
    expect(await rig.call('detective', 'service_status', { service: 'worker' })).toMatchObject({
      data: { state: 'stopped', main_pid: null },
    });
    writeFileSync(join(rig.host.dir, 'run.pid'), '');
  });
});

test('a storm of restarts from two Sentries on one database is one restart', async () => {
  const host = scratchHost();
  const one = await hostRig({ host });
  const two = await hostRig({ host, database: one.database });
  const rigs = [one, two] as const;
  host.start();
  await expect.poll(() => host.pid()).toBeDefined();
  await sleep(500);
  const actions = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const by = rigs[n % 2] ?? one;
      return { by, action: await by.approve(await by.propose('restart_service', { service: 'worker' })) };
    }),
  );
  const ended = await Promise.all(actions.map(({ by, action }) => by.execute(action)));
  expect(ended.filter(({ kind }) => kind === 'ran')).toHaveLength(1);
  // Those that came at the same moment were told to ask later: they ask.
  const later = await Promise.all(
    actions.filter((_, n) => ended[n]?.kind === 'later').map(({ by, action }) => by.execute(action)),
  );
  expect(later.every(({ kind }) => kind !== 'ran')).toBe(true);
  expect(host.restarts()).toBe(1);
  await two.core.stop();
  await one.stop();
});
