import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { claimFolder, type FolderClaim } from '../../../../src/infra/process/claim-folder.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { checkout } from '../../../support/spawn-holder.ts';

const gone = vi.fn();
let dir: string;
let claims: FolderClaim[];

async function claim(folder = dir): Promise<FolderClaim> {
  const made = await claimFolder(folder, quiet, gone);
  claims.push(made);
  return made;
}

/** Another process that has claimed the folder. */
async function claimElsewhere() {
  const script = join(dir, '..', 'holder.mts');
  const module = join(checkout, 'src', 'infra', 'process', 'claim-folder.ts');
  writeFileSync(
    script,
    `import { claimFolder } from ${JSON.stringify(module)};
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const claim = await claimFolder(${JSON.stringify(dir)}, log, () => undefined);
    claim.tell('http://127.0.0.1:3999');
    process.send('claimed');
    setInterval(() => undefined, 60_000);`,
  );
  const child = fork(script, { execArgv: ['--import', 'tsx'], cwd: checkout });
  await once(child, 'message');
  return child;
}

beforeEach(() => {
  claims = [];
  gone.mockClear();
  dir = join(scratchDir(), 'data');
  mkdirSync(dir);
});

afterEach(async () => {
  await Promise.all(claims.map((each) => each.release()));
});

describe('a data folder', () => {
  it('belongs to one start; the second is told where that is, and its pid [B9]', async () => {
    const holder = await claimElsewhere();
    await expect(claim()).rejects.toMatchObject({
      code: 'ALREADY_RUNNING',
      message: `Sentry is already running at http://127.0.0.1:3999 (pid ${holder.pid}), with the data in ${dir}.`,
    });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    // What a kill leaves behind holds nobody up.
    expect(existsSync(join(dir, 'running.sock'))).toBe(true);
    await claim();
  });

  it('is still held by one that is stopped and answers nothing [B9]', async () => {
    const holder = await claimElsewhere();
    holder.kill('SIGSTOP');
    await expect(claim()).rejects.toMatchObject({ code: 'ALREADY_RUNNING' });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  });

  it('goes to exactly one of many that start at once, also over what a kill left [B9]', async () => {
    const holder = await claimElsewhere();
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => claim()));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is free again when it was released, and its name may be longer than that of a socket [B9]', async () => {
    const deep = join(dir, 'a-folder-with-a-long-name'.repeat(4), 'and-one-below');
    mkdirSync(deep, { recursive: true });
    const first = await claim(deep);
    await first.release();
    await first.release();
    await claim(deep);
    await expect(claim(deep)).rejects.toMatchObject({ code: 'ALREADY_RUNNING' });
  });

  it('may have any file where the socket was: that holds nobody up [B9]', async () => {
    writeFileSync(join(dir, 'running.sock'), 'not a socket');
    await claim();
  });

  it.each([
    ['removed', () => rmSync(dir, { recursive: true })],
    ['emptied, as far as that was possible', () => rmSync(join(dir, 'running.sock'))],
    ['moved away', () => renameSync(dir, `${dir}-moved`)],
    [
      'replaced by another',
      () => {
        rmSync(dir, { recursive: true });
        mkdirSync(dir);
        writeFileSync(join(dir, 'running.sock'), '');
      },
    ],
  ])('that is %s is noticed, once [B10]', async (_, remove) => {
    await claim();
    remove();
    await expect.poll(() => gone.mock.calls.length).toBe(1);
  });

  it('that is let go of and then removed by its owner is nothing to tell of [B10]', async () => {
    const own = await claim();
    await own.release();
    rmSync(dir, { recursive: true });
    const other = await claim(scratchDir());
    await other.release();
    expect(gone).not.toHaveBeenCalled();
  });
});
