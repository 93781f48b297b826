import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hostUsage } from '../../../../src/targets/host/read/host-usage.ts';
import { hostTarget } from '../../targets/host/host-rig.ts';
import { scratchScene } from './scratch-scene.ts';

const scene = scratchScene();

describe('processes that have ended and are not waited for', () => {
  /** A parent that never asks how its children ended: it has become `sleep`. */
  async function neglect(count: number): Promise<number> {
    const script = `i=0; while [ $i -lt ${count} ]; do sleep 600 & i=$((i + 1)); done; exec sleep 600`;
    const parent = scene().run('/bin/sh', '-c', script);
    await expect.poll(() => childrenOf(parent, 'S').length).toBe(count);
    await expect.poll(() => ps('-o', 'comm=', '-p', String(parent))).toBe('sleep\n');
    for (const child of childrenOf(parent, 'S')) process.kill(child, 'SIGKILL');
    await expect.poll(() => childrenOf(parent, 'Z').length).toBe(count);
    return parent;
  }
  const ps = (...args: string[]): string => spawnSync('/bin/ps', args, { encoding: 'utf8' }).stdout;
  function childrenOf(parent: number, state: string): readonly number[] {
    const lines = ps('-o', 'pid=,state=', '--ppid', String(parent)).split('\n');
    return lines
      .map((line) => line.trim().split(/\s+/))
      .filter((words) => words[1] === state)
      .map(([pid]) => Number(pid));
  }

  test('are put down to the parent that does not wait', async () => {
    const parent = await neglect(30);
    expect(await scene().diagnose('HostZombieProcesses')).toMatchObject({
      verdict: 'cause_found',
      category: 'zombie_processes',
      rootCause: `sleep (pid ${parent}) does not wait for its children: 30 of them have ended and stay.`,
    });
  });

  test('a few are nobody’s fault', async () => {
    await neglect(3);
    expect((await scene().diagnose('HostZombieProcesses')).verdict).toBe('cannot_tell');
  });

  test('many processes that all run are none', async () => {
    for (let n = 0; n < 25; n += 1) scene().run('sleep', '600');
    expect((await scene().diagnose('HostTooManyProcesses')).verdict).toBe('cannot_tell');
  });

  test('on a host without any all is well', async () => {
    scene().run('sleep', '600');
    expect((await scene().diagnose('HostZombieProcesses')).verdict).toBe('healthy');
  });
});

/** Commands as they print on a host of one processor and 2 GiB; the numbers are those that matter. */
const load = (minute: string) => () =>
  ` 12:00:00 up 3 days,  1:00,  0 users,  load average: ${minute}, 1.00, 1.00\n`;

describe('processors', () => {
  /** Processor seconds that each look finds in addition, by name. */
  function busy(perLook: Readonly<Record<string, number>>, minute: string): void {
    let look = 0;
    Object.assign(scene().printed, {
      nproc: () => '1\n',
      uptime: load(minute),
      ps: () => {
        look += 1;
        return Object.entries(perLook)
          .map(([name, spent], at) => `${4_000 + at}  1 R  9000 ${100 + spent * look} 20480 ${name}`)
          .join('\n');
      },
    });
  }

  test('that one program takes are told with it', async () => {
    busy({ reindex: 2, postgres: 0, nginx: 0 }, '3.10');
    expect(await scene().diagnose('HostHighCpuLoad')).toMatchObject({
      verdict: 'cause_found',
      category: 'cpu_saturated',
      rootCause: expect.stringMatching(
        /^reindex takes \d+ % of one processor, of 1, as pid 4000\. It has run for/,
      ),
      unexplained: 'what reindex is doing, and whether it is meant to',
    });
  });

  test('that all take alike are nobody’s', async () => {
    busy({ a: 1, b: 1, c: 1, d: 1, e: 1 }, '6.10');
    const diagnosis = await scene().diagnose('HostHighCpuLoad');
    expect(diagnosis.verdict).toBe('cannot_tell');
    expect(diagnosis.rootCause).toContain('no program takes half of that');
  });

  test('that are idle are well', async () => {
    busy({ nginx: 0, postgres: 0 }, '0.10');
    expect((await scene().diagnose('HostHighCpuLoad')).verdict).toBe('healthy');
  });

  test('under a load that no process of two looks explains are neither', async () => {
    busy({ nginx: 0, postgres: 0 }, '7.10');
    expect((await scene().diagnose('HostHighCpuLoad')).verdict).toBe('cannot_tell');
  });

  test('that really spin are seen to, however little the machine has left for them', async () => {
    scene().run('sleep', '600');
    const burner = scene().run('/bin/sh', '-c', 'while :; do :; done');
    const context = scene().hosts().context(hostTarget.name, 30_000);
    const first = async () => {
      const { data } = await hostUsage.run(context, { order: 'cpu', limit: 1, watch_seconds: 2 });
      const [top] = (data as { processes: readonly { pid: number; cpu_percent: number }[] }).processes;
      return top && top.cpu_percent > 0 ? top.pid : null;
    };
    await expect.poll(first).toBe(burner);
  });
});

describe('memory', () => {
  const MIB = 1_024 ** 2;
  function left(available: number, held: Readonly<Record<string, number>>): void {
    Object.assign(scene().printed, {
      nproc: () => '1\n',
      uptime: load('0.20'),
      free: () =>
        [
          '               total        used        free      shared  buff/cache   available',
          `Mem:      ${2_048 * MIB}  ${(2_048 - available) * MIB}  ${10 * MIB}  0  ${30 * MIB}  ${available * MIB}`,
          'Swap:              0           0           0',
        ].join('\n'),
      ps: () =>
        Object.entries(held)
          .map(([name, mib], at) => `${5_000 + at}  1 S  9000 10 ${mib * 1_024} ${name}`)
          .join('\n'),
    });
  }

  test('that one program holds is told with it', async () => {
    left(60, { java: 1_500, nginx: 40 });
    expect(await scene().diagnose('HostOutOfMemory')).toMatchObject({
      verdict: 'cause_found',
      category: 'memory_short',
      rootCause: 'java holds 1.5 GB of 2.0 GB, as pid 5000; 2.9 % of the memory is available.',
    });
  });

  test('that no program holds is nobody’s', async () => {
    left(60, { a: 300, b: 300, c: 300, d: 300, e: 300 });
    expect((await scene().diagnose('HostOutOfMemory')).verdict).toBe('cannot_tell');
  });

  test('that is there is well, although little is free', async () => {
    left(1_500, { java: 400 });
    expect((await scene().diagnose('HostHighMemoryUsage')).verdict).toBe('healthy');
  });

  test('that is there again after the kernel killed something is not called well', async () => {
    left(1_500, { nginx: 40 });
    writeFileSync(
      join(scene().dir, 'logs', 'kern.log'),
      'kernel: Out of memory: Killed process 812 (java) total-vm:1800000kB, anon-rss:1500000kB\n',
    );
    const diagnosis = await scene().diagnose('HostOomKillDetected');
    expect(diagnosis.verdict).toBe('cannot_tell');
    expect(diagnosis.rootCause).toContain('Killed process 812 (java)');
  });
});
