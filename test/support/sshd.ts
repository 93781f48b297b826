import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';

import { freePort } from '../../src/infra/process/free-port.ts';
import type { SshTarget } from '../../src/targets/host/ssh-config.ts';
import { scratchDir } from './scratch-dir.ts';
import { waitFor } from './wait-for.ts';

export interface SshdOptions {
  /** Its host keys; ed25519 when left out. */
  readonly keys?: readonly ('ed25519' | 'rsa' | 'ecdsa')[];
  /** More lines of its configuration. */
  readonly config?: readonly string[];
}

/** Debian's sshd on loopback, with keys of its own, for the account that runs the tests. */
export interface Sshd {
  readonly dir: string;
  readonly port: number;
  readonly user: string;
  /** Of the first of its keys. */
  readonly fingerprint: string;
  publicKey(type?: string): string;
  /** A private key that it lets in. */
  readonly keyFile: string;
  log(): string;
  stop(): Promise<void>;
}

export function makeKey(path: string, type: string, passphrase = ''): void {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-C', 'test', '-f', path]);
}

export async function startSshd({ keys = ['ed25519'], config = [] }: SshdOptions = {}): Promise<Sshd> {
  const dir = scratchDir();
  const user = userInfo().username;
  const hostKey = (type: string) => join(dir, `host_${type}`);
  for (const type of keys) makeKey(hostKey(type), type);
  const keyFile = join(dir, 'client');
  makeKey(keyFile, 'ed25519');
  writeFileSync(join(dir, 'authorized'), readFileSync(`${keyFile}.pub`));
  const log = join(dir, 'log');
  writeFileSync(log, '');
  // Where root runs it, sshd keeps its unprivileged half there; the package's service would have made it.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const port = await freePort();
  writeFileSync(
    join(dir, 'config'),
    [
      ...config,
      'ListenAddress 127.0.0.1',
      `Port ${port}`,
      ...keys.map((type) => `HostKey ${hostKey(type)}`),
      `AuthorizedKeysFile ${join(dir, 'authorized')}`,
      `PidFile ${join(dir, 'pid')}`,
      'PermitRootLogin prohibit-password',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      // The scratch folder is below one that everybody may write to.
      'StrictModes no',
      'UsePAM no',
      // Not the start-up files of whoever runs the tests, which may take long.
      `SetEnv HOME=${dir}`,
      'MaxStartups 100',
      '',
    ].join('\n'),
  );
  const child: ChildProcess = spawn('/usr/sbin/sshd', ['-D', '-f', join(dir, 'config'), '-E', log], {
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const read = () => readFileSync(log, 'utf8');
  await waitFor('sshd to listen', async () => read().includes('Server listening'), { seen: read });
  const publicKey = (type: string = keys[0] ?? '') => readFileSync(`${hostKey(type)}.pub`, 'utf8').trim();
  return {
    dir,
    port,
    user,
    fingerprint: fingerprintOf(`${hostKey(keys[0] ?? '')}.pub`),
    publicKey,
    keyFile,
    log: read,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export function fingerprintOf(file: string): string {
  return (
    execFileSync('ssh-keygen', ['-l', '-E', 'sha256', '-f', file], { encoding: 'utf8' }).split(' ')[1] ?? ''
  );
}

/** A line to a port that can be cut. */
export interface Line {
  readonly port: number;
  /** Ends every connection at once; new ones are taken. */
  cut(): void;
  /** Takes no more connections, either. */
  close(): Promise<void>;
}

export async function lineTo(port: number): Promise<Line> {
  const open = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1' });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => open.forEach((socket) => void socket.destroy());
  return {
    port: (server.address() as { port: number }).port,
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}

/** A login to it as configured. `port`: of a line to it. */
export function loginTo(sshd: Sshd, more: Partial<SshTarget> = {}): SshTarget {
  return {
    host: '127.0.0.1',
    port: sshd.port,
    user: sshd.user,
    hostKeys: [{ fingerprint: sshd.fingerprint, type: null }],
    by: { kind: 'key', file: sshd.keyFile, key: readFileSync(sshd.keyFile, 'utf8'), passphrase: null },
    jump: null,
    sudo: false,
    ...more,
  };
}
