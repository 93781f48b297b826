import { describe, expect, test } from 'vitest';
import { parseDiff, renderDiff } from '../../../../src/safety/diffs/parse-diff.ts';
import { defaultDiffLimits } from '../../../../src/safety/diffs/patch-types.ts';

const hunk = '@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n';
const diffOf = (from: string, to: string, body = hunk): string => `--- ${from}\n+++ ${to}\n${body}`;
const codeOf = (text: string): string => {
  const parsed = parseDiff(text);
  return parsed.ok ? 'ok' : parsed.code;
};

describe('reads a plain change of text', () => {
  test('with and without the headers of git, and writes it again in its own words', () => {
    const plain = parseDiff(diffOf('a/conf/db.ini\t2024-01-01', 'b/conf/db.ini\t2024-01-02'));
    const git = parseDiff(
      `diff --git a/conf/db.ini b/conf/db.ini\nindex 1234567..89abcde 100644\n${diffOf('a/conf/db.ini', 'b/conf/db.ini')}`,
    );
    expect(git).toEqual(plain);
    expect(plain).toMatchObject({
      ok: true,
      files: [{ kind: 'modify', path: 'conf/db.ini', added: 1, removed: 1 }],
    });
    if (!plain.ok) return;
    expect(parseDiff(renderDiff(plain.files))).toEqual(plain);
  });

  test('removed lines that look like headers, and context that lost its space', () => {
    const text = diffOf('a/x', 'b/x', '@@ -1,4 +1,3 @@\n one\n\n--- a/evil\n-+++ b/evil\n+@@ -1 +1 @@\n');
    expect(parseDiff(text)).toMatchObject({ ok: true, files: [{ path: 'x', added: 1, removed: 2 }] });
  });

  test('a file without a newline at its end, several files, a new file', () => {
    const text =
      diffOf(
        'a/x',
        'b/x',
        '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n',
      ) +
      `diff --git a/new.txt b/new.txt\nnew file mode 100644\n${diffOf('/dev/null', 'b/new.txt', '@@ -0,0 +1 @@\n+x\n')}`;
    expect(parseDiff(text)).toMatchObject({
      ok: true,
      files: [{ kind: 'modify' }, { kind: 'create', path: 'new.txt' }],
    });
  });
});

describe('refuses what is more than that', () => {
  const git = (extra: string, path = 'x'): string =>
    `diff --git a/${path} b/${path}\n${extra}\n${diffOf('a/x', 'b/x')}`;
  test.each([
    ['nothing', '', 'DIFF_EMPTY'],
    ['a mode change', git('old mode 100644\nnew mode 100755'), 'DIFF_MODE'],
    ['a mode change without text', 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n', 'DIFF_MODE'],
    [
      'a link',
      `diff --git a/x b/x\nnew file mode 120000\n${diffOf('/dev/null', 'b/x', '@@ -0,0 +1 @@\n+/etc\n')}`,
      'DIFF_MODE',
    ],
    ['a changed link', git('index 1234567..89abcde 120000'), 'DIFF_MODE'],
    ['a submodule', git('index 1234567..89abcde 160000'), 'DIFF_MODE'],
    [
      'a program',
      `diff --git a/x b/x\nnew file mode 100755\n${diffOf('/dev/null', 'b/x', '@@ -0,0 +1 @@\n+#!\n')}`,
      'DIFF_MODE',
    ],
    ['a rename', 'diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n', 'DIFF_RENAME'],
    ['a copy', 'diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\n', 'DIFF_RENAME'],
    ['two names', diffOf('a/x', 'b/y'), 'DIFF_RENAME'],
    ['a binary patch', 'diff --git a/x b/x\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n', 'DIFF_BINARY'],
    ['a binary notice', 'diff --git a/x b/x\nBinary files a/x and b/x differ\n', 'DIFF_BINARY'],
    ['a NUL', diffOf('a/x', 'b/x', '@@ -1 +1 @@\n-a\n+b\0\n'), 'DIFF_BINARY'],
    ['a deletion', diffOf('a/x', '/dev/null', '@@ -1 +0,0 @@\n-a\n'), 'DIFF_DELETE'],
    ['/dev/null twice', diffOf('/dev/null', '/dev/null'), 'DIFF_PATH'],
    ['/dev/null with a prefix', diffOf('a/dev/null', 'b//dev/null'), 'DIFF_RENAME'],
    ['..', diffOf('a/../x', 'b/../x'), 'DIFF_PATH'],
    ['.. further in', diffOf('a/y/../../x', 'b/y/../../x'), 'DIFF_PATH'],
    ['an absolute path', diffOf('a//etc/passwd', 'b//etc/passwd'), 'DIFF_PATH'],
    ['a path without prefix', diffOf('x', 'x'), 'DIFF_PATH'],
    ['a bare absolute path', diffOf('/etc/hosts', '/etc/hosts'), 'DIFF_PATH'],
    ['a quoted path', diffOf('"a/\\056\\056/x"', '"b/\\056\\056/x"'), 'DIFF_PATH'],
    ['a path with quotes in it', diffOf('a/"x"', 'b/"x"'), 'DIFF_PATH'],
    ['an encoded path', diffOf('a/%2e%2e/x', 'b/%2e%2e/x'), 'DIFF_PATH'],
    ['a path with "."', diffOf('a/./x', 'b/./x'), 'DIFF_PATH'],
    ['a path with a backslash', diffOf('a/..\\x', 'b/..\\x'), 'DIFF_PATH'],
    ['another file in the git line', `diff --git a/y b/y\n${diffOf('a/x', 'b/x')}`, 'DIFF_HEADER'],
    ['a git line twice', `diff --git a/x b/x\n${git('index 12345..12345 100644')}`, 'DIFF_HEADER'],
    ['a "---" line twice', `--- a/y\n${diffOf('a/x', 'b/x')}`, 'DIFF_HEADER'],
    ['words before', `Please apply:\n${diffOf('a/x', 'b/x')}`, 'DIFF_HEADER'],
    ['words after', `${diffOf('a/x', 'b/x')}Thanks\n`, 'DIFF_HEADER'],
    ['a fence', `\`\`\`diff\n${diffOf('a/x', 'b/x')}\`\`\`\n`, 'DIFF_HEADER'],
    ['"new file" for one that is read', git('new file mode 100644'), 'DIFF_HEADER'],
    ['a file twice', diffOf('a/x', 'b/x') + diffOf('a/x', 'b/x'), 'DIFF_HEADER'],
    ['a file twice in another case', diffOf('a/x', 'b/x') + diffOf('a/X', 'b/X'), 'DIFF_HEADER'],
    ['no hunk', '--- a/x\n+++ b/x\n', 'DIFF_EMPTY'],
    ['a hunk of context only', diffOf('a/x', 'b/x', '@@ -1 +1 @@\n a\n'), 'DIFF_EMPTY'],
    ['wrong counts', diffOf('a/x', 'b/x', '@@ -1,3 +1,2 @@\n one\n-two\n+TWO\n'), 'DIFF_HUNK'],
    ['counts that stop early', diffOf('a/x', 'b/x', '@@ -1 +1 @@\n-one\n+two\n+hidden\n'), 'DIFF_HEADER'],
    ['a combined hunk', diffOf('a/x', 'b/x', '@@@ -1 -1 +1 @@@\n--a\n++b\n'), 'DIFF_HUNK'],
    ['overlapping hunks', diffOf('a/x', 'b/x', `${hunk}${hunk}`), 'DIFF_HUNK'],
    ['a creation that removes', diffOf('/dev/null', 'b/x', '@@ -1 +1 @@\n-a\n+b\n'), 'DIFF_HUNK'],
    ['right-to-left text', diffOf('a/x', 'b/x', '@@ -1 +1 @@\n-a\n+if \u202e x\n'), 'DIFF_DECEPTIVE'],
    ['zero-width text', diffOf('a/x', 'b/x', '@@ -1 +1 @@\n-a\n+a\u200bb\n'), 'DIFF_DECEPTIVE'],
  ])('%s', (_, text, code) => {
    expect(codeOf(text)).toBe(code);
  });

  test('more than a person reads', () => {
    const many = Array.from({ length: 11 }, (_, index) => diffOf(`a/f${index}`, `b/f${index}`)).join('');
    const long = diffOf('/dev/null', 'b/x', `@@ -0,0 +1,401 @@\n${'+x\n'.repeat(401)}`);
    expect(codeOf(many)).toBe('DIFF_TOO_LARGE');
    expect(codeOf(long)).toBe('DIFF_TOO_LARGE');
    expect(codeOf('x'.repeat(70_000))).toBe('DIFF_TOO_LARGE');
  });

  test('a deletion is read when it is allowed', () => {
    const text = diffOf('a/x', '/dev/null', '@@ -1 +0,0 @@\n-a\n');
    expect(parseDiff(text, { ...defaultDiffLimits, allowDelete: true })).toMatchObject({
      files: [{ kind: 'delete', path: 'x' }],
    });
  });
});
