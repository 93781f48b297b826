import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scratchScene } from './scratch-scene.ts';

const scene = scratchScene();
const at = (...path: string[]): string => join(scene().dir, ...path);
const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

describe('a port that another process has', () => {
  const STRANGER = `import { createServer } from 'node:net';
import { writeFileSync } from 'node:fs';
const server = createServer((socket) => socket.end());
server.listen(0, '127.0.0.1', () => writeFileSync('port', String(server.address().port)));`;
  /** Its pid and the port that it was given. */
  async function occupy(): Promise<{ readonly pid: number; readonly port: number }> {
    writeFileSync(at('stranger.mjs'), STRANGER);
    const pid = scene().run(process.execPath, 'stranger.mjs');
    await expect.poll(() => textOf(at('port'))).toMatch(/^\d+$/);
    const port = Number(textOf(at('port')));
    scene().listensAt(port);
    return { pid, port };
  }

  test('is told with the process that has it; a start alone is not proposed', async () => {
    const { pid, port } = await occupy();
    expect(await scene().diagnose('HostPortConflict')).toMatchObject({
      verdict: 'cause_found',
      category: 'port_taken',
      rootCause: `orders is not running, and node (pid ${pid}), which is not its process, has its port ${port}.`,
    });
  });

  test('is not blamed when the service itself runs there', async () => {
    const { pid } = await occupy();
    writeFileSync(at('orders.pid'), String(pid));
    const said = async () =>
      (await scene().diagnose('HostPortConflict', { title: 'orders: port conflict' })).verdict;
    // Once it has run for long enough to count as running.
    await expect.poll(said).toBe('healthy');
  });

  test('is not blamed when the service is down and nobody has it', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    scene().listensAt(address.port);
    expect((await scene().diagnose('HostPortConflict')).category).not.toBe('port_taken');
  });
});

describe('certificates', () => {
  function issue(file: string, name: string, days: number): void {
    const made = spawnSync(
      'openssl',
      [
        'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -addext basicConstraints=critical,CA:FALSE',
        `-keyout ${at('key')} -out ${at('app', file)} -subj /CN=${name} -days ${days} -addext subjectAltName=DNS:${name}`,
      ].flatMap((words) => words.split(' ')),
      { encoding: 'utf8' },
    );
    expect(made.status, made.stderr).toBe(0);
  }

  test('one that the alert names and that is about to expire is the cause', async () => {
    issue('shop.crt', 'shop.example.com', 4);
    issue('other.crt', 'other.example.com', 300);
    const title = 'The certificate of shop.example.com is about to expire';
    expect(await scene().diagnose('SslCertificateExpiresSoon', { title })).toMatchObject({
      verdict: 'cause_found',
      category: 'certificate_expired',
      rootCause: expect.stringMatching(/shop\.crt, for shop\.example\.com, expires on 20\d\d-/),
    });
  });

  const EXPIRED = { title: 'shop.example.com: certificate has expired' };

  test('one that is valid in its file is none: the service may have an older one', async () => {
    issue('shop.crt', 'shop.example.com', 200);
    const diagnosis = await scene().diagnose('SslCertificateExpired', EXPIRED);
    expect(diagnosis.verdict).toBe('cannot_tell');
    expect(diagnosis.rootCause).toContain('The service may still have an older one loaded');
  });

  test('that of somebody else is not blamed, although it is about to expire', async () => {
    issue('old.crt', 'legacy.example.com', 2);
    issue('shop.crt', 'shop.example.com', 200);
    expect((await scene().diagnose('SslCertificateExpired', EXPIRED)).verdict).toBe('cannot_tell');
  });

  test('elsewhere are not known', async () => {
    expect((await scene().diagnose('SslCertificateExpired', EXPIRED)).verdict).toBe('cannot_tell');
  });
});

describe('too many open files', () => {
  /** A service that never closes a file, and says what comes of it as often as it tries. */
  const LEAK = `import { appendFileSync, closeSync, openSync, writeFileSync } from 'node:fs';
writeFileSync('orders.pid', String(process.pid));
const kept = [];
setInterval(() => {
  try { kept.push(openSync('/dev/null', 'r')); }
  catch (error) {
    closeSync(kept.pop());
    appendFileSync('logs/orders.log', new Date().toISOString() + ' ERROR accept: ' + error.code + ': too many open files\\n');
    kept.push(openSync('/dev/null', 'r'));
  }
}, 5);`;
  const COMPLAINTS = 'ERROR accept: EMFILE: too many open files\n'.repeat(5);

  test('of a service that complains of it, and goes on to, are its own', async () => {
    writeFileSync(at('leak.mjs'), LEAK);
    scene().run('/bin/sh', '-c', `ulimit -n 60; exec '${process.execPath}' leak.mjs`);
    await expect.poll(() => textOf(at('logs/orders.log'))).toContain('too many');
    await expect
      .poll(async () => (await scene().diagnose('HostTooManyOpenFiles')).rootCause)
      .toMatch(/^orders has reached its limit of open files: /);
  });

  test('in an old line of a log that goes on without them are none', async () => {
    appendFileSync(at('logs/orders.log'), COMPLAINTS + 'INFO order taken\n'.repeat(100));
    expect((await scene().diagnose('HostTooManyOpenFiles')).verdict).toBe('cannot_tell');
  });

  test('in a log that nobody writes to any more are none', async () => {
    appendFileSync(at('logs/orders.log'), COMPLAINTS);
    const hourAgo = new Date(Date.now() - 3_600_000);
    utimesSync(at('logs/orders.log'), hourAgo, hourAgo);
    expect((await scene().diagnose('HostTooManyOpenFiles')).verdict).toBe('cannot_tell');
  });

  test('of which no log speaks are not known', async () => {
    expect((await scene().diagnose('HostTooManyOpenFiles')).verdict).toBe('cannot_tell');
  });
});

describe('the files that a file system may have', () => {
  const used = (percent: number) => () =>
    [
      'Type  Inodes IFree IUse% 1B-blocks Avail Use% Mounted on',
      'ext4 16777216 9000000 46% 270553174016 78530269184 28% /',
      `xfs 2000 ${2000 - percent * 20} ${percent}% 1073741824 800000000 25% ${scene().dir}`,
    ].join('\n');

  test('are told to be used up with the folder that has them', async () => {
    mkdirSync(at('app', 'sessions'));
    for (let n = 0; n < 600; n += 1) writeFileSync(at('app', 'sessions', `s${n}`), 'x');
    scene().printed['df'] = used(100);
    expect(await scene().diagnose('HostOutOfInodes')).toMatchObject({
      verdict: 'cause_found',
      category: 'out_of_inodes',
      confidence: 0.9,
      rootCause: expect.stringContaining(`of the 100 newest, 100 are in ${scene().dir}/app/sessions`),
    });
  });

  test('are told without a folder where they are elsewhere', async () => {
    scene().printed['df'] = used(100);
    expect(await scene().diagnose('HostOutOfInodes')).toMatchObject({
      verdict: 'cause_found',
      confidence: 0.85,
      unexplained: `which folder of ${scene().dir} has them`,
    });
  });

  test('are enough', async () => {
    scene().printed['df'] = used(30);
    expect((await scene().diagnose('HostOutOfInodes')).verdict).toBe('healthy');
  });

  test('of another file system than the alert’s are not blamed', async () => {
    scene().printed['df'] = used(100);
    const about = async (mountpoint: string) =>
      (await scene().diagnose('HostOutOfInodes', { labels: { mountpoint } })).verdict;
    expect(await about('/')).toBe('healthy');
    expect(await about('/data')).toBe('cannot_tell');
  });

  test('are read on the machine that tests', async () => {
    const diagnosis = await scene().diagnose('HostOutOfInodes');
    expect(diagnosis.evidence.length + diagnosis.rootCause.length).toBeGreaterThan(0);
  });
});
