import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { withFileLock } from '../../../../src/infra/process/file-lock.ts';
import { processIdentity } from '../../../../src/infra/process/process-identity.ts';
import type { ChildSpec } from '../../../../src/infra/supervisor/child-spec.ts';
import { keepRunning } from '../../../../src/infra/supervisor/keep-running.ts';
import { type ProgramOptions, program } from '../../../../src/infra/supervisor/program.ts';
import { startChild } from '../../../../src/infra/supervisor/start-child.ts';
import { endProcessesUnder } from '../../../support/processes-under.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** A data folder whose child, whoever started it, is gone after the test. */
function dataFolder(): string {
  const dir = scratchDir();
  cleanUp.push(() => endProcessesUnder(dir));
  return dir;
}

/** A child that gets ready and lives; it tells what it was given. */
const living =
  'console.log("some words"); console.log(JSON.stringify({ready:true,word:process.argv[4],keys:Object.keys(process.env)})); setInterval(() => {}, 1000)';

interface Info {
  readonly word: string;
  readonly keys: readonly string[];
}

function child(
  dataDir: string,
  more: Partial<ProgramOptions<Info>> & { readonly code?: string } = {},
): ChildSpec<Info> {
  const { code = living, ...options } = more;
  const script = join(dataDir, 'program.js');
  writeFileSync(script, code);
  return program({
    name: 'child',
    log: quiet,
    dataDir,
    script,
    data: 'data',
    args: ['here'],
    parse: (ready) => ready as Info,
    isHealthy: async () => true,
    readyMs: 30_000,
    ...options,
  });
}

function isAlive(pid: number): boolean {
  return processIdentity(pid) !== undefined;
}

describe('a child', () => {
  test('gives what it printed when ready, has only the environment it was given, and ends when stopped', async () => {
    const running = await startChild(child(dataFolder()));
    expect(running.word).toBe('here');
    expect(running.keys.toSorted()).toEqual(['PATH', 'TZ']);
    await running.stop();
    expect(isAlive(running.pid)).toBe(false);
  });

  test('is adopted by the next start of the same command, and replaced by another one or when unhealthy', async () => {
    const dir = dataFolder();
    const first = await startChild(child(dir));
    const second = await startChild(child(dir));
    expect(second).toMatchObject({ adopted: true, pid: first.pid, word: 'here' });
    const third = await startChild(child(dir, { args: ['there'] }));
    expect(third).toMatchObject({ adopted: false, word: 'there' });
    expect(isAlive(first.pid)).toBe(false);
    const isHealthy = async () => isAlive(third.pid) === false;
    const fourth = await startChild(child(dir, { args: ['there'], isHealthy, readyMs: 500 }));
    expect(fourth.adopted).toBe(false);
    expect(isAlive(third.pid)).toBe(false);
  });

  test('ends with the last that uses it', async () => {
    const dir = dataFolder();
    const [one, two] = [await startChild(child(dir)), await startChild(child(dir))];
    expect(two.pid).toBe(one.pid);
    await one.stop();
    expect(isAlive(two.pid)).toBe(true);
    await two.stop();
    expect(isAlive(two.pid)).toBe(false);
  });

  test('that dies before it is ready, never gets ready, or cannot be executed, is reported with its last words', async () => {
    const dies = child(dataFolder(), { code: 'console.error("no luck"); process.exit(3)' });
    await expect(startChild(dies)).rejects.toMatchObject({
      code: 'CHILD_FAILED',
      message: expect.stringContaining('no luck'),
    });
    const silent = child(dataFolder(), { code: 'setInterval(() => {}, 1000)', readyMs: 500 });
    await expect(startChild(silent)).rejects.toMatchObject({ code: 'CHILD_FAILED' });
    const missing = child(dataFolder(), { script: '/no/such/program.js' });
    await expect(startChild(missing)).rejects.toMatchObject({ code: 'CHILD_FAILED' });
  });
});

describe('what is kept running', () => {
  test('is started again when it is killed, again and again, and ends when it is stopped', async () => {
    const kept = await keepRunning(child(dataFolder()));
    const pids = [kept.current().pid];
    for (let round = 1; round <= 3; round += 1) {
      process.kill(kept.current().pid, 'SIGKILL');
      await expect.poll(() => pids.includes(kept.current().pid)).toBe(false);
      pids.push(kept.current().pid);
    }
    await kept.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(kept.current().pid).toBe(pids.at(-1));
  });

  test('is tried again when a restart fails', async () => {
    let starts = 0;
    const spec = child(dataFolder());
    const kept = await keepRunning({
      ...spec,
      prepare: (folder) => {
        starts += 1;
        if (starts === 2) throw new Error('not yet');
        return spec.prepare(folder);
      },
    });
    cleanUp.push(kept.stop);
    const first = kept.current().pid;
    process.kill(first, 'SIGKILL');
    await expect.poll(() => kept.current().pid !== first && isAlive(kept.current().pid)).toBe(true);
    expect(starts).toBe(3);
  });
});

describe('a file lock', () => {
  test('lets one in at a time, also when the one before was killed', async () => {
    const path = join(scratchDir(), 'lock');
    // The owner's process is gone: its pid names nobody, or somebody who started later.
    const dead = { pid: process.pid, startedAt: 'another boot/1', token: 'dead-token' };
    writeFileSync(path, JSON.stringify(dead));
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await sleep(5);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => withFileLock(path, 30_000, work)));
    expect(most).toBe(1);
    expect(existsSync(path)).toBe(false);
  });

  test('says who holds it when the wait is over, and leaves it to him', async () => {
    const path = join(scratchDir(), 'lock');
    await withFileLock(path, 1_000, async () => {
      const held = readFileSync(path, 'utf8');
      await expect(withFileLock(path, 100, async () => undefined)).rejects.toMatchObject({
        code: 'LOCK_BUSY',
        message: expect.stringContaining(String(process.pid)),
      });
      expect(readFileSync(path, 'utf8')).toBe(held);
    });
  });

  test('is let go when the work throws', async () => {
    const path = join(scratchDir(), 'lock');
    await expect(withFileLock(path, 1_000, () => Promise.reject(new Error('oops')))).rejects.toThrow('oops');
    expect(await withFileLock(path, 1_000, async () => 'in')).toBe('in');
  });
});
