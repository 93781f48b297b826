import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkPath } from '../../../../src/safety/paths/check-path.ts';
import { openInside } from '../../../../src/safety/paths/open-inside.ts';
import { readInside } from '../../../../src/safety/paths/read-inside.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

let base: string;
let root: string;

beforeEach(() => {
  base = scratchDir();
  root = join(base, 'project');
  mkdirSync(join(root, 'config'), { recursive: true });
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(root, 'config/db.conf'), 'port = 5432\n');
  writeFileSync(join(base, 'outside/plain.txt'), 'not for you\n');
});

const codeOf = async (text: string): Promise<string> => {
  const checked = await checkPath(root, text);
  return checked.ok ? 'ok' : checked.code;
};

describe('allows what lies inside the root', () => {
  test.each([
    'config/db.conf',
    './config//db.conf',
    'config/./db.conf',
    'config/',
    '.',
    'not/there/yet.log',
    'notes (1) & more, v2+3.md',
    'übersicht/größe.md',
    'a..b/c...d.txt',
    'configmap/..data/settings.ini',
    'configmap/..2024_01_02_15_04_05.123456/settings.ini',
    'log%20file.txt',
    'load-100%.txt',
    '[id]/page{x}.md',
    'what=this@2024.log',
    '.env.example',
    'docs/secrets.md',
    'docs/credentials-rotation.md',
    'id_mapping.md',
    '2024-01-01T10:00:00.log',
  ])('%s', async (text) => {
    expect(await codeOf(text)).toBe('ok');
  });

  test('an absolute path to it, also when the root is a link', async () => {
    symlinkSync(root, join(base, 'current'));
    const checked = await checkPath(join(base, 'current'), join(base, 'current/config/db.conf'));
    expect(checked).toMatchObject({ ok: true, resolved: join(root, 'config/db.conf'), kind: 'file' });
    expect(await codeOf(join(root, 'config/db.conf'))).toBe('ok');
  });

  test('a link that stays inside', async () => {
    symlinkSync('config/db.conf', join(root, 'settings'));
    expect(await checkPath(root, 'settings')).toMatchObject({ resolved: join(root, 'config/db.conf') });
  });

  test('a root that does not exist yet, but nothing beside it', async () => {
    expect(await checkPath(join(base, 'later'), 'a.txt')).toMatchObject({ ok: true, kind: 'missing' });
    expect(await checkPath(join(base, 'later'), join(base, 'later2/a.txt'))).toMatchObject({ ok: false });
  });
});

describe('refuses every way out', () => {
  test.each([
    ['..', 'PATH_TRAVERSAL'],
    ['../outside/plain.txt', 'PATH_TRAVERSAL'],
    ['config/../config/db.conf', 'PATH_TRAVERSAL'],
    ['config/..', 'PATH_TRAVERSAL'],
    ['.../.../x', 'PATH_TRAVERSAL'],
    ['.. /x', 'PATH_TRAVERSAL'],
    ['..;/x', 'PATH_EXPANSION'],
    ['..x/y', 'PATH_TRAVERSAL'],
    ['%2e%2e/x', 'PATH_ENCODED'],
    ['%2E%2E%2Fx', 'PATH_ENCODED'],
    ['%252e%252e%252fx', 'PATH_ENCODED'],
    ['%25252e/x', 'PATH_ENCODED'],
    ['.%2e/x', 'PATH_ENCODED'],
    ['..%20/x', 'PATH_TRAVERSAL'],
    ['%c0%ae%c0%ae/x', 'PATH_ENCODED'],
    ['%e0%80%ae/x', 'PATH_ENCODED'],
    ['%f0%80%80%af', 'PATH_ENCODED'],
    ['%u002e%u002e/x', 'PATH_ENCODED'],
    ['%zz/x', 'PATH_ENCODED'],
    ['..2f..2fx', 'PATH_ENCODED'],
    ['0x2e0x2e/x', 'PATH_ENCODED'],
    ['%00', 'PATH_ENCODED'],
    ['..\\x', 'PATH_BACKSLASH'],
    ['config\\db.conf', 'PATH_BACKSLASH'],
    ['a\0b', 'PATH_CONTROL'],
    ['a\nb', 'PATH_CONTROL'],
    ['a\u200bb', 'PATH_CONTROL'],
    ['a\u202eb', 'PATH_CONTROL'],
    ['a\u00a0b', 'PATH_CONTROL'],
    ['\ud800', 'PATH_CONTROL'],
    ['\uff0e\uff0e/x', 'PATH_LOOKALIKE'],
    ['\u2025/x', 'PATH_LOOKALIKE'],
    ['..\u2215x', 'PATH_LOOKALIKE'],
    ['..\uff0fx', 'PATH_LOOKALIKE'],
    ['\u2024\u2024/x', 'PATH_LOOKALIKE'],
    ['.\uff45nv', 'PATH_LOOKALIKE'],
    ['file:///etc/hosts', 'PATH_SCHEME'],
    ['FILE:/etc/hosts', 'PATH_SCHEME'],
    ['php://filter/x', 'PATH_SCHEME'],
    ['data:text/plain,x', 'PATH_SCHEME'],
    ['C:/boot.ini', 'PATH_SCHEME'],
    ['x.txt::$DATA', 'PATH_SCHEME'],
    ['~/x', 'PATH_EXPANSION'],
    ['~root/x', 'PATH_EXPANSION'],
    ['$HOME/x', 'PATH_EXPANSION'],
    ['${HOME}/x', 'PATH_EXPANSION'],
    ['conf*/db', 'PATH_EXPANSION'],
    ['|id', 'PATH_EXPANSION'],
    ['x.', 'PATH_TRAILING'],
    ['config /x', 'PATH_TRAILING'],
    [' x', 'PATH_SPACE'],
    ['', 'PATH_EMPTY'],
    ['a'.repeat(256), 'PATH_TOO_LONG'],
    ['a/'.repeat(2100), 'PATH_TOO_LONG'],
    ['a/'.repeat(70), 'PATH_TOO_LONG'],
    ['/etc/hosts', 'PATH_OUTSIDE'],
    ['/', 'PATH_OUTSIDE'],
    ['//etc/hosts', 'PATH_OUTSIDE'],
  ])('%j is refused with %s', async (text, code) => {
    expect(await codeOf(text)).toBe(code);
  });

  test('a folder that only starts with the name of the root', async () => {
    mkdirSync(`${root}-secret`);
    expect(await codeOf(`${root}-secret/x`)).toBe('PATH_OUTSIDE');
  });

  test('the root in another case', async () => {
    expect(await codeOf(join(base, 'PROJECT/config/db.conf'))).toBe('PATH_OUTSIDE');
  });

  test('a link to a file, to a folder, through two links, and one that leads nowhere yet', async () => {
    symlinkSync(join(base, 'outside/plain.txt'), join(root, 'file'));
    symlinkSync('../outside', join(root, 'folder'));
    symlinkSync('folder', join(root, 'twice'));
    symlinkSync(join(base, 'outside/later.txt'), join(root, 'dangling'));
    symlinkSync('circle', join(root, 'circle'));
    expect(await codeOf('file')).toBe('PATH_OUTSIDE');
    expect(await codeOf('folder/plain.txt')).toBe('PATH_OUTSIDE');
    expect(await codeOf('twice/plain.txt')).toBe('PATH_OUTSIDE');
    expect(await codeOf('folder/missing.txt')).toBe('PATH_OUTSIDE');
    expect(await codeOf('dangling')).toBe('PATH_DANGLING');
    expect(await codeOf('dangling/x')).toBe('PATH_DANGLING');
    expect(await codeOf('circle')).toBe('PATH_LOOP');
  });

  test.each(['/proc/self/environ', '/proc/self/fd/0', '/proc/1/root/etc/hosts', '/dev/null', '/sys/kernel'])(
    '%s, also when the root is the whole file system',
    async (text) => {
      const checked = await checkPath('/', text);
      expect(checked.ok).toBe(false);
    },
  );

  test('/dev/fd and /proc reached through a link inside the root', async () => {
    symlinkSync('/proc/self/fd', join(root, 'fd'));
    expect(await checkPath('/', join(root, 'fd/0'))).toMatchObject({ ok: false });
  });
});

describe('refuses files that hold credentials', () => {
  test.each([
    '.env',
    '.ENV',
    'app/.env.production',
    'prod.env',
    'id_rsa',
    'keys/id_ed25519.bak',
    'tls/server.key',
    'tls/server.pem',
    'tls/server.key.old.gz',
    '.server.key.swp',
    'etc/shadow',
    'etc/shadow-',
    'etc/passwd',
    '.pgpass',
    '.netrc',
    '_netrc',
    'kubeconfig',
    'prod.kubeconfig',
    'kubeconfig-prod.yaml',
    '.kube/config',
    '.aws/credentials',
    '.ssh/anything',
    '.docker/config.json',
    '.git/config',
    '.git-credentials',
    '.bash_history',
    '.psql_history',
    'secrets.yaml',
    'helm/my-secrets.yaml',
    'credentials.json',
    'terraform.tfstate.backup',
    'wp-config.php',
    'database.yml',
    'htpasswd',
    'a/run/secrets/db',
    'var/lib/kubelet/pods/x/volumes/token',
    'host.keytab',
  ])('%s', async (text) => {
    expect(await codeOf(text)).toBe('PATH_SECRET');
  });

  test('behind a link with an innocent name', async () => {
    writeFileSync(join(root, '.env'), 'PASSWORD=x');
    symlinkSync('.env', join(root, 'settings.txt'));
    expect(await codeOf('settings.txt')).toBe('PATH_SECRET');
  });
});

describe('opens only regular files, and checks what it has opened', () => {
  test('reads a text and says when it is cut', async () => {
    expect(await readInside(root, 'config/db.conf')).toMatchObject({
      kind: 'text',
      text: 'port = 5432\n',
      cut: false,
    });
    expect(await readInside(root, 'config/db.conf', { maxBytes: 4 })).toMatchObject({
      text: 'port',
      cut: true,
    });
  });

  test('a character cut in two is still text', async () => {
    writeFileSync(join(root, 'umlaut.txt'), 'aé');
    expect(await readInside(root, 'umlaut.txt', { maxBytes: 2 })).toMatchObject({ kind: 'text', text: 'a' });
  });

  test('names a binary file and shows none of it', async () => {
    writeFileSync(join(root, 'x.bin'), Buffer.from([0x7f, 0x45, 0, 1]));
    writeFileSync(join(root, 'latin.txt'), Buffer.from([0x61, 0xe9, 0x62]));
    expect(await readInside(root, 'x.bin')).toEqual({
      ok: true,
      kind: 'binary',
      relative: 'x.bin',
      size: 4,
      mode: expect.any(Number),
    });
    expect(await readInside(root, 'latin.txt')).toMatchObject({ kind: 'binary' });
  });

  test('says missing, folder and too large', async () => {
    expect(await openInside(root, 'nothing.txt')).toMatchObject({ code: 'PATH_MISSING' });
    expect(await openInside(root, 'config')).toMatchObject({ code: 'PATH_NOT_A_FILE' });
    expect(await openInside(root, 'config/db.conf', { maxSize: 3 })).toMatchObject({
      code: 'PATH_TOO_LARGE',
    });
  });

  test('refuses a pipe and a socket without blocking', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(await openInside(root, 'pipe')).toMatchObject({ code: 'PATH_NOT_A_FILE' });
    const server = createServer().listen(join(root, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    expect(await openInside(root, 'socket')).toMatchObject({ code: 'PATH_NOT_A_FILE' });
    server.close();
  });

  test('a folder swapped for a link between check and open leads nowhere', async () => {
    const opened = await openInside(root, 'config/db.conf', {
      beforeOpen: () => {
        renameSync(join(root, 'config'), join(root, 'moved'));
        writeFileSync(join(base, 'outside/db.conf'), 'not for you\n');
        symlinkSync(join(base, 'outside'), join(root, 'config'));
      },
    });
    expect(opened).toMatchObject({ ok: false, code: 'PATH_OUTSIDE' });
  });

  test.each([
    ['a link', (path: string, target: string) => symlinkSync(target, path), 'PATH_CHANGED'],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path]), 'PATH_NOT_A_FILE'],
  ])('a file swapped for %s between check and open is refused', async (_, swap, code) => {
    const path = join(root, 'config/db.conf');
    const opened = await openInside(root, 'config/db.conf', {
      beforeOpen: () => {
        rmSync(path);
        swap(path, join(base, 'outside/plain.txt'));
      },
    });
    expect(opened).toMatchObject({ ok: false, code });
  });

  test('a secret file moved into the place of a checked one is refused by where the descriptor leads', async () => {
    const opened = await openInside(root, 'config/db.conf', {
      beforeOpen: () => {
        renameSync(join(root, 'config'), join(root, '.ssh'));
        symlinkSync('.ssh', join(root, 'config'));
      },
    });
    expect(opened).toMatchObject({ ok: false, code: 'PATH_SECRET' });
  });

  test('a hard link is a file of the folder it lies in (documented: names decide, not origins)', async () => {
    linkSync(join(base, 'outside/plain.txt'), join(root, 'hard.txt'));
    expect(await readInside(root, 'hard.txt')).toMatchObject({ ok: true });
  });
});
