import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { withFileLock } from '../../../../src/infra/process/file-lock.ts';
import { processIdentity } from '../../../../src/infra/process/process-identity.ts';
import {
  type ChildProcessOptions,
  startChildProcess,
} from '../../../../src/infra/supervisor/child-process.ts';
import { keepRunning } from '../../../../src/infra/supervisor/keep-running.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** A child that gets ready and lives; it tells its pid and one variable. */
const living =
  'console.log("some words"); console.log(JSON.stringify({ready:{pid:process.pid,word:process.env.WORD,keys:Object.keys(process.env)}})); setInterval(() => {}, 1000)';

interface Info {
  readonly pid: number;
  readonly word?: string;
  readonly keys: readonly string[];
}

function options(dataDir: string, more: Partial<ChildProcessOptions<Info>> = {}): ChildProcessOptions<Info> {
  return {
    name: 'child',
    dataDir,
    command: [process.execPath, '-e', living],
    parse: (ready) => ready as Info,
    isHealthy: async () => true,
    log: quiet,
    ...more,
  };
}

function isAlive(pid: number): boolean {
  return processIdentity(pid) !== undefined;
}

describe('a child process', () => {
  test('gives what it printed when ready, has only the environment it was given, and ends when stopped', async () => {
    const child = await startChildProcess(options(scratchDir(), { env: { WORD: 'here' } }));
    cleanUp.push(child.stop);
    expect(child.info).toMatchObject({ pid: child.pid, word: 'here' });
    expect(child.info.keys.toSorted()).toEqual(['PATH', 'TZ', 'WORD']);
    await child.stop();
    expect(isAlive(child.pid)).toBe(false);
  });

  test('is adopted by the next start of the same command, and replaced by another one or when unhealthy', async () => {
    const dir = scratchDir();
    const first = await startChildProcess(options(dir));
    cleanUp.push(first.stop);
    const second = await startChildProcess(options(dir));
    expect(second).toMatchObject({ adopted: true, pid: first.pid });
    const third = await startChildProcess(options(dir, { env: { WORD: 'other' } }));
    cleanUp.push(third.stop);
    expect(third.adopted).toBe(false);
    expect(isAlive(first.pid)).toBe(false);
    const fourth = await startChildProcess(
      options(dir, { env: { WORD: 'other' }, isHealthy: async () => false }),
    );
    cleanUp.push(fourth.stop);
    expect(fourth.adopted).toBe(false);
    expect(isAlive(third.pid)).toBe(false);
  });

  test('that dies before it is ready, never gets ready, or cannot be executed, is reported with its last words', async () => {
    const dies = options(scratchDir(), {
      command: [process.execPath, '-e', 'console.error("no luck"); process.exit(3)'],
    });
    await expect(startChildProcess(dies)).rejects.toMatchObject({
      code: 'CHILD_FAILED',
      message: expect.stringContaining('no luck'),
    });
    const silent = options(scratchDir(), {
      command: [process.execPath, '-e', 'setInterval(() => {}, 1000)'],
      readyMs: 500,
    });
    await expect(startChildProcess(silent)).rejects.toMatchObject({ code: 'CHILD_FAILED' });
    const missing = options(scratchDir(), { command: ['/no/such/program'] });
    await expect(startChildProcess(missing)).rejects.toMatchObject({ code: 'CHILD_FAILED' });
  });
});

describe('what is kept running', () => {
  test('is started again when it is killed, again and again, and not after it was stopped', async () => {
    const dir = scratchDir();
    const restarted: number[] = [];
    const kept = await keepRunning({
      name: 'child',
      start: () => startChildProcess(options(dir)),
      log: quiet,
      backoffMs: [0, 10],
      onRestart: (child) => restarted.push(child.pid),
    });
    cleanUp.push(kept.stop);
    const pids = [kept.current().pid];
    for (let round = 1; round <= 3; round += 1) {
      process.kill(kept.current().pid, 'SIGKILL');
      await expect.poll(() => restarted.length).toBe(round);
      pids.push(kept.current().pid);
    }
    expect(new Set(pids).size).toBe(4);
    await kept.stop();
    await sleep(500);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(restarted).toHaveLength(3);
  });

  test('is tried again when a restart fails', async () => {
    const dir = scratchDir();
    let starts = 0;
    const kept = await keepRunning({
      name: 'child',
      start: async () => {
        starts += 1;
        if (starts === 2) throw new Error('not yet');
        return startChildProcess(options(dir));
      },
      log: quiet,
      backoffMs: [0, 10],
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
