import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { applyPlan } from '../../../../src/safety/diffs/apply-plan.ts';
import { defaultDiffLimits } from '../../../../src/safety/diffs/patch-types.ts';
import { type PatchPlan, planPatch } from '../../../../src/safety/diffs/plan-patch.ts';
import type { PatchReceipt } from '../../../../src/safety/diffs/receipt.ts';
import { undoPatch } from '../../../../src/safety/diffs/undo-patch.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

const before = 'host = db\nport = 5432\npool = 10\n';
const after = 'host = db\nport = 5432\npool = 50\n';
const change =
  '--- a/conf/db.ini\n+++ b/conf/db.ini\n@@ -1,3 +1,3 @@\n host = db\n port = 5432\n-pool = 10\n+pool = 50\n';
const creation = '--- /dev/null\n+++ b/conf/new.ini\n@@ -0,0 +1 @@\n+x = 1\n';
const deletion = '--- a/conf/old.ini\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n';
const withDelete = { limits: { ...defaultDiffLimits, allowDelete: true } };

let base: string;
let root: string;
const at = (name: string): string => join(root, 'conf', name);
const read = (name: string): string => readFileSync(at(name), 'utf8');

beforeEach(() => {
  base = scratchDir();
  root = join(base, 'app');
  mkdirSync(join(root, 'conf'), { recursive: true });
  writeFileSync(at('db.ini'), before);
  writeFileSync(at('old.ini'), 'gone\n');
});

async function planned(diff: string): Promise<PatchPlan> {
  const plan = await planPatch(root, diff, withDelete);
  if (!plan.ok) throw new Error(`${plan.code}: ${plan.reason}`);
  return plan;
}

async function applied(diff: string): Promise<PatchReceipt> {
  const result = await applyPlan(await planned(diff));
  if (!result.ok) throw new Error(result.reason);
  return result.receipt;
}

describe('planning', () => {
  test('computes the files as they will be and changes nothing', async () => {
    const plan = await planned(change + creation);
    expect(plan.files.map(({ path, after: content }) => [path, content?.toString()])).toEqual([
      ['conf/db.ini', after],
      ['conf/new.ini', 'x = 1\n'],
    ]);
    expect(readdirSync(join(root, 'conf')).sort()).toEqual(['db.ini', 'old.ini']);
    expect(read('db.ini')).toBe(before);
  });

  test('refuses a diff that does not fit, and says where', async () => {
    writeFileSync(at('db.ini'), 'something else\n');
    expect(await planPatch(root, change)).toMatchObject({
      code: 'DIFF_DOES_NOT_APPLY',
      reason: expect.stringContaining('conf/db.ini'),
    });
  });

  test.each([
    ['a missing file', 'none.ini', 'PATH_MISSING'],
    ['a secret file', '.env', 'PATH_SECRET'],
    ['a key', 'tls.key', 'PATH_SECRET'],
    ['a backup', 'db.ini.bak', 'PATH_SECRET|DIFF_PATH'],
    ['a start-up file', '.bashrc', 'DIFF_PATH'],
  ])('refuses %s', async (_, name, code) => {
    if (code !== 'PATH_MISSING') writeFileSync(at(name), before);
    const plan = await planPatch(root, change.replaceAll('db.ini', name));
    expect(plan.ok ? 'ok' : plan.code).toMatch(new RegExp(`^(?:${code})$`, 'u'));
  });

  test.each([
    ['further down', `${'x\n'.repeat(20)}${before}`, change],
    ['further up', before, change.replace('-1,3 +1,3', '-90,3 +90,3')],
    ['at the same lines once more', before + before, change.replace('-1,3 +1,3', '-2,3 +2,3')],
    [
      'after lines that are not there',
      before,
      '--- a/conf/db.ini\n+++ b/conf/db.ini\n@@ -90,0 +91 @@\n+x = 1\n',
    ],
  ])('refuses a hunk that would apply %s than it says [F20]', async (_, content, diff) => {
    writeFileSync(at('db.ini'), content);
    expect(await planPatch(root, diff)).toMatchObject({ ok: false, code: 'DIFF_DOES_NOT_APPLY' });
  });

  test('refuses a file that has another name too [F20]', async () => {
    linkSync(at('db.ini'), join(base, 'outside.ini'));
    expect(await planPatch(root, change)).toMatchObject({ ok: false, code: 'DIFF_LINK' });
  });

  test.each([
    [
      'every line',
      'host = db\r\nport = 5432\r\npool = 10\r\n',
      change,
      'host = db\r\nport = 5432\r\npool = 50\r\n',
    ],
    [
      'all lines but a last one without an end',
      'a\r\nb',
      '--- a/conf/db.ini\n+++ b/conf/db.ini\n@@ -1,2 +1,3 @@\n a\n+c\n b\n\\ No newline at end of file\n',
      'a\r\nc\r\nb',
    ],
  ])(
    'patches a file with the line ends of Windows, and keeps them in %s',
    async (_, content, diff, result) => {
      writeFileSync(at('db.ini'), content);
      const plan = await planned(diff);
      expect(plan.files[0]?.after?.toString()).toBe(result);
    },
  );

  test('refuses hooks and pipelines', async () => {
    for (const path of ['.git/hooks/pre-commit', '.github/workflows/x.yml', '.husky/pre-push']) {
      const plan = await planPatch(root, creation.replace('conf/new.ini', path));
      expect(plan).toMatchObject({ ok: false });
    }
  });

  test('refuses a link, a file behind a link, a binary file and a large one', async () => {
    writeFileSync(join(base, 'outside.ini'), before);
    symlinkSync('db.ini', at('link.ini'));
    symlinkSync(join(base, 'outside.ini'), at('out.ini'));
    symlinkSync('conf', join(root, 'alias'));
    writeFileSync(at('bin.ini'), `${before}\0`);
    writeFileSync(at('large.ini'), before + 'x'.repeat(2 * 1024 * 1024));
    const codeOf = async (path: string): Promise<string> => {
      const plan = await planPatch(root, change.replaceAll('conf/db.ini', path));
      return plan.ok ? 'ok' : plan.code;
    };
    expect(await codeOf('conf/link.ini')).toBe('DIFF_LINK');
    expect(await codeOf('conf/out.ini')).toBe('PATH_OUTSIDE');
    expect(await codeOf('alias/db.ini')).toBe('DIFF_LINK');
    expect(await codeOf('conf/bin.ini')).toBe('DIFF_BINARY');
    expect(await codeOf('conf/large.ini')).toBe('PATH_TOO_LARGE');
  });

  test('refuses to create what exists, or in a folder that does not', async () => {
    expect(await planPatch(root, creation.replace('new.ini', 'db.ini'))).toMatchObject({
      code: 'DIFF_EXISTS',
    });
    expect(await planPatch(root, creation.replace('conf/', 'none/'))).toMatchObject({ code: 'DIFF_PATH' });
  });

  test('keeps to the one file the caller named', async () => {
    expect(await planPatch(root, change, { onlyFile: 'conf/db.ini' })).toMatchObject({ ok: true });
    expect(await planPatch(root, change, { onlyFile: 'conf/other.ini' })).toMatchObject({
      code: 'DIFF_PATH',
    });
  });

  test('ignores the configuration and attributes of a repository around it', async () => {
    mkdirSync(join(root, '.git'));
    writeFileSync(join(root, '.git/config'), '[apply]\n\twhitespace = fix\n[core]\n\tautocrlf = true\n');
    writeFileSync(join(root, '.gitattributes'), '* text eol=crlf\n');
    const trailing = change.replace('+pool = 50', '+pool = 50  ');
    expect((await planned(trailing)).files[0]?.after?.toString()).toBe(after.replace('50\n', '50  \n'));
  });
});

describe('applying', () => {
  test('writes, keeps the mode, leaves a backup and no other file', async () => {
    chmodSync(at('db.ini'), 0o640);
    const receipt = await applied(change);
    expect(read('db.ini')).toBe(after);
    expect(read('db.ini.bak')).toBe(before);
    expect(statSync(at('db.ini')).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(root, 'conf')).sort()).toEqual(['db.ini', 'db.ini.bak', 'old.ini']);
    expect(receipt).toMatchObject({ files: [{ path: 'conf/db.ini', backup: 'db.ini.bak' }] });
  });

  test('never overwrites a backup', async () => {
    writeFileSync(at('db.ini.bak'), 'precious');
    symlinkSync('/etc/hostname', at('db.ini.bak.1'));
    await applied(change);
    expect(read('db.ini.bak')).toBe('precious');
    expect(read('db.ini.bak.2')).toBe(before);
  });

  test('creates and deletes, both undoable', async () => {
    const receipt = await applied(creation + deletion);
    expect(read('new.ini')).toBe('x = 1\n');
    expect(existsSync(at('old.ini'))).toBe(false);
    expect(await undoPatch(receipt)).toEqual({ ok: true });
    expect(existsSync(at('new.ini'))).toBe(false);
    expect(read('old.ini')).toBe('gone\n');
  });

  test.each([
    ['the file', () => writeFileSync(at('db.ini'), 'newer\n'), 'newer\n'],
    [
      'the file into a link',
      () => (renameSync(at('db.ini'), at('x')), symlinkSync('x', at('db.ini'))),
      before,
    ],
  ])('does not write when somebody changed %s after the plan', async (_, disturb, content) => {
    const plan = await planned(change);
    disturb();
    expect(await applyPlan(plan)).toMatchObject({ ok: false, code: 'PATCH_CHANGED' });
    expect(read('db.ini')).toBe(content);
    expect(existsSync(at('db.ini.bak'))).toBe(false);
  });

  test('does not follow a folder that became a link out of the root', async () => {
    const plan = await planned(change);
    mkdirSync(join(base, 'outside'));
    writeFileSync(join(base, 'outside/db.ini'), before);
    renameSync(join(root, 'conf'), join(root, 'moved'));
    symlinkSync(join(base, 'outside'), join(root, 'conf'));
    expect(await applyPlan(plan)).toMatchObject({ code: 'PATCH_CHANGED' });
    expect(readdirSync(join(base, 'outside'))).toEqual(['db.ini']);
  });

  test('does not follow a parent folder that became a link either', async () => {
    mkdirSync(join(root, 'deep/conf'), { recursive: true });
    writeFileSync(join(root, 'deep/conf/db.ini'), before);
    const plan = await planned(change.replaceAll('conf/db.ini', 'deep/conf/db.ini'));
    renameSync(join(root, 'deep'), join(base, 'elsewhere'));
    symlinkSync(join(base, 'elsewhere'), join(root, 'deep'));
    expect(await applyPlan(plan)).toMatchObject({ code: 'PATCH_CHANGED' });
    expect(readFileSync(join(base, 'elsewhere/conf/db.ini'), 'utf8')).toBe(before);
  });

  test('takes the first file back when the second cannot be written', async () => {
    const plan = await planned(change + creation);
    const result = await applyPlan(plan, {
      beforeWrite: ({ path }) => {
        if (path.endsWith('new.ini')) writeFileSync(at('new.ini'), 'theirs');
      },
    });
    expect(result).toMatchObject({ ok: false, code: 'PATCH_CHANGED' });
    expect(read('db.ini')).toBe(before);
    expect(read('new.ini')).toBe('theirs');
  });
});

describe('undoing', () => {
  test('puts back exactly what was there, from a receipt that went through JSON', async () => {
    const receipt = JSON.parse(JSON.stringify(await applied(change))) as PatchReceipt;
    expect(await undoPatch(receipt)).toEqual({ ok: true });
    expect(read('db.ini')).toBe(before);
    expect(read('db.ini.bak')).toBe(before);
  });

  test('refuses, and touches nothing, when one of the files was changed since', async () => {
    const receipt = await applied(change + creation);
    writeFileSync(at('db.ini'), 'newer\n');
    expect(await undoPatch(receipt)).toMatchObject({ code: 'PATCH_CHANGED' });
    expect(read('db.ini')).toBe('newer\n');
    expect(read('new.ini')).toBe('x = 1\n');
  });

  test('refuses a second time, and when the backup is not what was replaced', async () => {
    const receipt = await applied(change);
    writeFileSync(at('db.ini.bak'), 'forged\n');
    expect(await undoPatch(receipt)).toMatchObject({ code: 'PATCH_BACKUP' });
    writeFileSync(at('db.ini.bak'), before);
    expect(await undoPatch(receipt)).toEqual({ ok: true });
    expect(await undoPatch(receipt)).toMatchObject({ code: 'PATCH_CHANGED' });
  });
});
