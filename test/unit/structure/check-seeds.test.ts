import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scratchDir } from '../../support/scratch-dir.ts';

const program = join(import.meta.dirname, '../../../scripts/check-seeds.mjs');

/** Checks a checkout of a few files whose docs/seeds.md has these rows. */
function check(rows: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const folder = scratchDir();
  const all: Record<string, string> = {
    'src/actions/gate.ts': '',
    'test/gate.test.ts':
      "test('opens', () => 1); test.skip('sleeps', () => 1); test.each([[1]])('counts %s', () => 1);",
    ...files,
    'docs/seeds.md': `# Seeds\n\n| | says | state | where | tests | why |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const run = spawnSync(process.execPath, [program, folder], { encoding: 'utf8' });
  return { status: run.status, said: run.stderr + run.stdout };
}

const good = '| 000-1 | A gate | built | `src/actions` | `test/gate.test.ts` “opens” “counts %s” | |';

describe('the check of docs/seeds.md', () => {
  test('passes when every row holds', () => {
    const later = '| 000-2 | A door | part 3 | `src/door` | | |';
    const dropped = '| 000-3 | A window | not kept | | | Nobody looks out of it. |';
    expect(check([good, later, dropped])).toMatchObject({ status: 0 });
  });

  test.each([
    [
      'a path that is not there',
      good.replace('src/actions', 'src/actions/no.ts'),
      'src/actions/no.ts does not exist',
    ],
    ['a test file that is not there', good.replace('test/gate', 'test/no'), 'test/no.test.ts does not exist'],
    ['a test that is not there', good.replace('opens', 'shuts'), 'no test “shuts”'],
    ['a test that is skipped', good.replace('opens', 'sleeps'), 'no test “sleeps”'],
    ['no test at all', good.replace(/`test.*” \|/, '|'), 'names no test'],
    ['a file but no test of it', good.replace(/ “.*” \|/, ' |'), 'names no test of test/gate.test.ts'],
    ['no place', good.replace('`src/actions`', ''), 'names no place'],
    ['a state nobody knows', good.replace('built', 'done'), 'is no state'],
    ['a difference without a reason', good.replace('built', 'built otherwise'), 'without a reason'],
    ['a cell too few', '| 000-1 | A gate | built | `src/actions` |', 'has 4 cells'],
    ['a gap in the numbers', good.replace('000-1', '000-2'), 'expected 000-1'],
    ['no rows', '', 'no rows'],
  ])('fails on %s', (_, row, message) => {
    const { status, said } = check([row]);
    expect(said).toContain(message);
    expect(status).toBe(1);
  });

  test('fails when what is to come has come', () => {
    const later = '| 000-2 | A door | part 3 | `src/door` | | |';
    for (const path of ['src/door.ts', 'src/door/door.ts'])
      expect(check([good, later], { [path]: '' })).toMatchObject({ status: 1 });
  });

  test('lets a module be in work until something uses it', () => {
    const row = '| 000-2 | A door | in work, part 3 | `src/door` | | |';
    const door = {
      'src/door/door.ts': "import { a } from '../gate/gate.ts';",
      'src/door/handle.ts': "import './door.ts';",
    };
    expect(check([good, row], door)).toMatchObject({ status: 0 });
    expect(check([good, row])).toMatchObject({ status: 1 });
    const { status, said } = check([good, row], {
      ...door,
      'src/actions/gate.ts': "import { b } from '../door/door.ts';",
    });
    expect(said).toContain('src/door is in use by src/actions/gate.ts');
    expect(status).toBe(1);
  });

  test('fails when a module is in no row', () => {
    for (const path of [
      'src/door/door.ts',
      'src/safety/lock.ts',
      'src/ingest/pager/index.ts',
      'runbooks/docker/a.md',
    ]) {
      const { status, said } = check([good], { [path]: '' });
      expect(said).toContain('is in no row');
      expect(status).toBe(1);
    }
  });
});
