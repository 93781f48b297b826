import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { checkPath } from '../../src/safety/paths/check-path.ts';
import { readInside } from '../../src/safety/paths/read-inside.ts';
import { cpuClock } from '../support/cpu-clock.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { fuzzRuns } from './runs.ts';

const outsideText = 'outside the root';
let base: string;
let root: string;

beforeAll(() => {
  base = realpathSync(scratchDir());
  root = join(base, 'root');
  mkdirSync(join(root, 'a/b'), { recursive: true });
  mkdirSync(join(base, 'out'));
  writeFileSync(join(base, 'out/f'), outsideText);
  writeFileSync(join(base, 'f'), outsideText);
  writeFileSync(join(root, 'a/f'), 'inside');
  symlinkSync(join(base, 'out'), join(root, 'a/out'));
  symlinkSync('..', join(root, 'a/up'));
  symlinkSync('../../..', join(root, 'a/b/far'));
  symlinkSync(join(base, 'out/f'), join(root, 'link'));
  symlinkSync('/', join(root, 'slash'));
  symlinkSync('/proc/self/fd', join(root, 'fd'));
});

const fragment = fc.constantFrom(
  '..',
  '.',
  '/',
  '//',
  '\\',
  'a',
  'b',
  'f',
  'out',
  'up',
  'far',
  'link',
  'slash',
  'fd',
  'root',
  '...',
  ' ',
  '~',

  '%2e',
  '%2E%2e',
  '%2f',
  '%5c',
  '%252e',
  '%c0%ae',
  '%c0%af',
  '%00',
  '%',
  '%u002e',
  '0x2e',
  '..2f',
  '\0',
  '\n',

  '\uff0e',
  '\uff0f',
  '\u2024',
  '\u2025',
  '\u2215',
  '\u202e',
  '\u200b',
  '\ud800',
  'file:',
  '/proc/self',
  '/etc/hosts',
);
const hostile = fc.oneof(
  fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join('')),
  fc.array(fragment, { maxLength: 10 }).map((parts) => parts.join('/')),
  fc
    .array(fc.constantFrom('a', 'b', 'f', 'out', 'up', 'far', 'link', 'slash', 'fd'), { maxLength: 6 })
    .map((parts) => parts.join('/')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ maxLength: 6000 }),
);

test('no text opens a file outside the root, throws or takes long', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, fc.boolean(), async (text, absolute) => {
      const path = absolute ? `${root}/${text}` : text;
      const cpuMs = cpuClock();
      const checked = await checkPath(root, path);
      const content = await readInside(root, path);
      expect(cpuMs()).toBeLessThan(3_000);
      if (checked.ok) expect(`${checked.resolved}/`.startsWith(`${root}/`)).toBe(true);
      if (content.ok) {
        expect(checked.ok).toBe(true);
        expect(content).toMatchObject({ text: 'inside' });
      }
    }),
    { numRuns: fuzzRuns },
  );
});

test('what stays inside by plain words is never refused', async () => {
  const name = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,10}(?:\.(?:md|log|txt|py))?$/u);
  await fc.assert(
    fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 6 }), async (names) => {
      // `up` and its like are links of this tree.
      const path = ['docs', ...names].join('/');
      expect(await checkPath(root, path)).toMatchObject({ ok: true, resolved: join(root, path) });
    }),
    { numRuns: fuzzRuns },
  );
});
