import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCredentialFile } from '../../../src/targets/read-credential-file.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

it('reads a credential through links, and nothing but a regular file of some size [F2]', () => {
  const dir = scratchDir();
  writeFileSync(join(dir, 'token'), 'abc\n');
  symlinkSync('token', join(dir, 'link'));
  expect(readCredentialFile(join(dir, 'link'))).toBe('abc\n');
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  expect(() => readCredentialFile(join(dir, 'pipe'))).toThrow('not a regular file');
  symlinkSync('/dev/zero', join(dir, 'zero'));
  expect(() => readCredentialFile(join(dir, 'zero'))).toThrow('not a regular file');
  expect(() => readCredentialFile(dir)).toThrow('not a regular file');
  writeFileSync(join(dir, 'large'), Buffer.alloc(1024 * 1024 + 1));
  expect(() => readCredentialFile(join(dir, 'large'))).toThrow('more than 1048576 bytes');
});
