import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { readPublicKey } from '../../../src/safety/secrets/public-key.ts';
import { sshMachine } from '../../../src/targets/host/connect/ssh/remote-machine.ts';
import type { Machine } from '../../../src/targets/host/machine.ts';
import type { SshTarget } from '../../../src/targets/host/ssh-config.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { type Line, lineTo, loginTo, makeKey, type Sshd, startSshd } from '../../support/sshd.ts';
import { waitFor } from '../../support/wait-for.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function sshd(...given: Parameters<typeof startSshd>): Promise<Sshd> {
  const started = await startSshd(...given);
  open.push(() => started.stop());
  return started;
}

function machine(target: SshTarget): Machine {
  const made = sshMachine(target);
  open.push(() => made.close());
  return made;
}

async function line(port: number): Promise<Line> {
  const made = await lineTo(port);
  open.push(() => made.close());
  return made;
}

const pinOf = (text: string) => {
  const key = readPublicKey(text);
  if (!key) throw new Error(text);
  return key;
};

describe('the pinned host key', () => {
  test.each(['ed25519', 'rsa', 'ecdsa'] as const)(
    'a server that has only an %s key is known by its line and by its fingerprint',
    async (type) => {
      const server = await sshd({ keys: [type] });
      const key = pinOf(server.publicKey());
      expect(key.fingerprint).toBe(server.fingerprint);
      for (const pin of [key, { ...key, type: null }])
        expect(await machine(loginTo(server, { hostKeys: [pin] })).identity()).toMatch(
          /^[0-9a-f]{32}$|^host:/,
        );
    },
  );

  test.each(['rsa', 'ecdsa'] as const)(
    'a server of many keys is asked for the pinned one: %s',
    async (type) => {
      const server = await sshd({ keys: ['ed25519', 'rsa', 'ecdsa'] });
      const key = pinOf(server.publicKey(type));
      for (const pin of [key, { ...key, type: null }])
        await expect(machine(loginTo(server, { hostKeys: [pin] })).identity()).resolves.toBeTruthy();
    },
  );

  test('another one ends it before the account is named, and both are told', async () => {
    const server = await sshd({ keys: ['ed25519', 'rsa'] });
    const other = pinOf(
      ((path) => (makeKey(path, 'ed25519'), readFileSync(`${path}.pub`, 'utf8')))(join(scratchDir(), 'k')),
    );
    for (const pin of [other, { ...other, type: null }]) {
      const failed = await machine(loginTo(server, { hostKeys: [pin] }))
        .identity()
        .catch((error: unknown) => error);
      expect(failed).toMatchObject({ code: 'HOST_KEY_DIFFERS', retryable: false });
      expect(String(failed)).toContain(other.fingerprint);
      expect(String(failed)).toContain(server.fingerprint);
    }
    expect(server.log()).not.toMatch(/Accepted|Failed|for root|for user/);
  });

  test('several may be pinned, as while a host is given another key', async () => {
    const server = await sshd({ keys: ['rsa'] });
    const path = join(scratchDir(), 'old');
    makeKey(path, 'ed25519');
    const hostKeys = [pinOf(readFileSync(`${path}.pub`, 'utf8')), pinOf(server.publicKey())];
    await expect(machine(loginTo(server, { hostKeys })).identity()).resolves.toBeTruthy();
  });
});

describe('the login', () => {
  test('a key that is not let in is said, with the account and the file, and never the key', async () => {
    const server = await sshd();
    const file = join(scratchDir(), 'other');
    makeKey(file, 'ed25519');
    const key = readFileSync(file, 'utf8');
    const failed = await machine(loginTo(server, { by: { kind: 'key', file, key, passphrase: null } }))
      .identity()
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'HOST_LOGIN', hint: expect.stringContaining('authorized_keys') });
    expect(String(failed)).toContain(file);
    expect(JSON.stringify(failed) + String(failed)).not.toContain(key.split('\n')[2]);
  });

  test('an account that sshd does not allow is said the same way', async () => {
    const server = await sshd({ config: ['AllowUsers somebody-else'] });
    await expect(machine(loginTo(server)).identity()).rejects.toMatchObject({
      code: 'HOST_LOGIN',
      hint: expect.stringContaining('AllowUsers'),
    });
  });

  test('an encrypted key is opened by its passphrase, and without it is said', async () => {
    const server = await sshd();
    const file = join(scratchDir(), 'locked');
    makeKey(file, 'ed25519', 'open sesame');
    appendFileSync(join(server.dir, 'authorized'), readFileSync(`${file}.pub`));
    const by = (passphrase: string | null) =>
      machine(loginTo(server, { by: { kind: 'key', file, key: readFileSync(file, 'utf8'), passphrase } }));
    await expect(by('open sesame').identity()).resolves.toBeTruthy();
    await expect(by(null).identity()).rejects.toMatchObject({
      code: 'HOST_SSH_KEY',
      message: expect.stringContaining('no passphrase'),
      hint: expect.stringContaining('passphrase_file'),
    });
    const wrong = await by('shut sesame')
      .identity()
      .catch((error: unknown) => error);
    expect(wrong).toMatchObject({ code: 'HOST_SSH_KEY' });
    expect(String(wrong)).not.toContain('sesame');
  });

  test('an agent logs in by its own keys, and one that is gone is said', async () => {
    const server = await sshd();
    const socket = join(scratchDir(), 'agent');
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'ignore'] });
    open.push(() => agent.kill('SIGKILL'));
    const add = () =>
      spawnSync('ssh-add', ['-q', server.keyFile], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
    await waitFor('the agent', async () => add().status === 0);
    const by = { kind: 'agent', socket } as const;
    await expect(machine(loginTo(server, { by })).identity()).resolves.toBeTruthy();
    await expect(
      machine(loginTo(server, { by: { kind: 'agent', socket: `${socket}-not` } })).identity(),
    ).rejects.toMatchObject({ code: 'HOST_SSH_KEY', message: expect.stringContaining('agent') });
  });

  test('a host behind another is reached through it, each by its own pin', async () => {
    const [jump, server] = [await sshd(), await sshd({ keys: ['ecdsa'] })];
    await expect(machine(loginTo(server, { jump: loginTo(jump) })).identity()).resolves.toBeTruthy();
    expect(jump.log()).toContain('Accepted publickey');
    const wrong = loginTo(jump, { hostKeys: [{ fingerprint: server.fingerprint, type: null }] });
    await expect(machine(loginTo(server, { jump: wrong })).identity()).rejects.toMatchObject({
      code: 'HOST_KEY_DIFFERS',
      message: expect.stringContaining(`:${jump.port}`),
    });
    await expect(
      machine(
        loginTo(server, { jump: loginTo(jump), hostKeys: [{ fingerprint: jump.fingerprint, type: null }] }),
      ).identity(),
    ).rejects.toMatchObject({
      code: 'HOST_KEY_DIFFERS',
      message: expect.stringContaining(`:${server.port}`),
    });
    await server.stop();
    await expect(machine(loginTo(server, { jump: loginTo(jump) })).identity()).rejects.toMatchObject({
      code: 'HOST_AWAY',
    });
  });

  test('a host without sshd is away, which may pass', async () => {
    const server = await sshd();
    await server.stop();
    await expect(machine(loginTo(server)).identity()).rejects.toMatchObject({
      code: 'HOST_AWAY',
      retryable: true,
      message: expect.stringContaining('nobody takes connections'),
    });
  });

  test.each([
    ['writes something of its own', 'ForceCommand sh -c \'echo Welcome; eval "$SSH_ORIGINAL_COMMAND"\''],
    ['runs something else', 'ForceCommand /bin/false'],
  ])('an account whose shell %s is said', async (_, config) => {
    const server = await sshd({ config: [config] });
    await expect(machine(loginTo(server)).identity()).rejects.toMatchObject({ code: 'HOST_SHELL' });
  });

  test('where nothing may be forwarded a port is not said to be closed', async () => {
    const server = await sshd({ config: ['AllowTcpForwarding no'] });
    const options = { timeoutMs: 10_000, signal: new AbortController().signal };
    await expect(machine(loginTo(server)).reach(server.port, options)).rejects.toMatchObject({
      code: 'HOST_NO_FORWARD',
      hint: expect.stringContaining('PermitOpen'),
    });
  });

  test('a server of few sessions is told what to raise', async () => {
    const server = await sshd({ config: ['MaxSessions 0'] });
    await expect(machine(loginTo(server)).identity()).rejects.toMatchObject({
      code: 'HOST_AWAY',
      hint: expect.stringContaining('MaxSessions'),
    });
  });
});

describe('a line that breaks', () => {
  test('is made anew for the next read; the read that was cut says so', async () => {
    const server = await sshd();
    const way = await line(server.port);
    const over = machine(loginTo(server, { port: way.port }));
    expect(await over.hasProgram('/bin/sh')).toBe(true);
    const options = { timeoutMs: 20_000, signal: new AbortController().signal, capture: true };
    const mark = join(scratchDir(), 'begun');
    const reading = over.run(['/bin/sh', '-c', 'echo > "$1"; sleep 29.51', 'sh', mark], options);
    const cut = expect(reading).rejects.toMatchObject({ code: 'HOST_AWAY', retryable: true });
    await waitFor('the read to begin', async () => {
      try {
        return readFileSync(mark, 'utf8') === '\n';
      } catch {
        return false;
      }
    });
    way.cut();
    await cut;
    expect(await over.hasProgram('/bin/sh')).toBe(true);
  });

  test('while it is being made, everybody is told', async () => {
    const server = await sshd();
    const way = await line(server.port);
    await way.close();
    const over = machine(loginTo(server, { port: way.port }));
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => over.identity()));
    expect(all.every((one) => one.status === 'rejected' && one.reason.code === 'HOST_AWAY')).toBe(true);
  });
});
