import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyPlan } from '../../src/safety/diffs/apply-plan.ts';
import { parseDiff, renderDiff } from '../../src/safety/diffs/parse-diff.ts';
import { planPatch } from '../../src/safety/diffs/plan-patch.ts';
import { undoPatch } from '../../src/safety/diffs/undo-patch.ts';
import { cpuClock } from '../support/cpu-clock.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { fuzzRuns } from './runs.ts';

const path = fc.constantFrom(
  'x',
  'd/x',
  '../x',
  'd/../../x',
  '/etc/x',
  './x',
  '"x"',
  '%2e%2e/x',
  '..\\x',
  'd//x',
  '.git/hooks/x',
  '.env',
  'x y',
);
const line = fc.oneof(
  fc
    .tuple(fc.constantFrom('--- a/', '+++ b/', '--- ', '+++ ', 'diff --git a/', 'rename from '), path)
    .map((parts) => parts.join('')),
  path.map((name) => `diff --git a/${name} b/${name}`),
  fc.constantFrom(
    '--- /dev/null',
    '+++ /dev/null',
    '--- a/x',
    '+++ b/x',
    '@@ -1 +1 @@',
    '@@ -1,2 +1,2 @@',
    '@@ -0,0 +1 @@',

    '@@ -1 +0,0 @@',
    '@@ -999999999 +1 @@',
    '-one',
    '+two',
    ' one',
    '',
    '\\ No newline at end of file',
    '-- x',

    'new file mode 100644',
    'new file mode 120000',
    'old mode 100644',
    'index 1234567..89abcde 120000',
    'GIT binary patch',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const hostile = fc.array(line, { maxLength: 12 }).map((lines) => `${lines.join('\n')}\n`);
const framed = fc
  .tuple(path, path, fc.array(line, { maxLength: 6 }))
  .map(([from, to, lines]) => `--- a/${from}\n+++ b/${to}\n@@ -1 +1 @@\n-one\n+two\n${lines.join('\n')}`);

test('what is read names only plain relative files and means the same when it is written again', () => {
  fc.assert(
    fc.property(fc.oneof(hostile, framed), (text) => {
      const cpuMs = cpuClock();
      const parsed = parseDiff(text);
      expect(cpuMs()).toBeLessThan(3_000);
      if (!parsed.ok) return;
      for (const file of parsed.files) {
        expect(file.path).not.toMatch(/^\/|(?:^|\/)\.{1,2}(?:\/|$)|["\\%\0]/u);
        expect(file.kind).not.toBe('delete');
      }
      expect(parseDiff(renderDiff(parsed.files))).toEqual(parsed);
    }),
    { numRuns: fuzzRuns * 3 },
  );
});

test('whatever is applied stays in the root and is undone to the byte', async () => {
  const text = fc.array(fc.constantFrom('a', 'b', '', ' c', '-d', '+e', '@@', '\\'), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(text, text, path, async (old, next, name) => {
      const base = realpathSync(scratchDir());
      mkdirSync(join(base, 'root/d'), { recursive: true });
      const content = old.map((each) => `${each}\n`).join('');
      writeFileSync(join(base, 'root/x'), content);
      writeFileSync(join(base, 'x'), content);
      const body = [...old.map((each) => `-${each}`), ...next.map((each) => `+${each}`)].join('\n');
      const [from, to] = [Math.min(1, old.length), Math.min(1, next.length)];
      const diff = `--- a/${name}\n+++ b/${name}\n@@ -${from},${old.length} +${to},${next.length} @@\n${body}\n`;
      const plan = await planPatch(join(base, 'root'), diff);
      if (plan.ok) {
        const applied = await applyPlan(plan);
        expect(applied.ok).toBe(true);
        if (applied.ok) {
          expect(readFileSync(join(base, 'root/x'), 'utf8')).toBe(next.map((each) => `${each}\n`).join(''));
          expect(await undoPatch(applied.receipt)).toEqual({ ok: true });
        }
      }
      expect(readFileSync(join(base, 'root/x'), 'utf8')).toBe(content);
      expect(readFileSync(join(base, 'x'), 'utf8')).toBe(content);
      expect(readdirSync(base).sort()).toEqual(['root', 'x']);
    }),
    { numRuns: Math.min(40, fuzzRuns) },
  );
});
