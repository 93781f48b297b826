import { expect, test } from 'vitest';
import { codePathFault, revisionFault } from '../../../src/code/inputs.ts';

test.each(['1.4.2', 'v1.4.2', 'main', 'release/2026-11', 'shop-api@1.4.2', '9bc1d2e', 'feature/a+b'])(
  'a deploy may call its version %s',
  (name) => expect(revisionFault(name)).toBeNull(),
);

test.each([
  '',
  '--upload-pack=x',
  '-n1',
  'main..dev',
  'main...dev',
  'HEAD@{1}',
  '@{-1}',
  'main^',
  'main~1',
  'main:src/pool.ts',
  ':/Fix',
  'a b',
  'a\nb',
  'refs/../config',
  '/etc/passwd',
  'a//b',
  'a/.b',
  'a.lock',
  'a/',
  'ma*n',
  'x'.repeat(201),
])('%j is no name of a version', (name) => expect(revisionFault(name)).not.toBeNull());

test.each(['src/pool.ts', 'src', 'src/', 'docs/read me.md', '@types/a.d.ts', 'app/[id]/page.tsx'])(
  '%s is a path',
  (path) => expect(codePathFault(path)).toBeNull(),
);

test.each([
  '',
  '/',
  '.',
  './a',
  '/etc/passwd',
  '../a',
  'a/../../b',
  'a//b',
  ':(glob)**',
  ':!a',
  'a\0b',
  'a\nb',
  '.git/config',
  '.env',
  'deploy/.ssh/id_ed25519',
  'config/credentials.json',
  '%2e%2e/a',
])('%j is no path that is read', (path) => expect(codePathFault(path)).not.toBeNull());
