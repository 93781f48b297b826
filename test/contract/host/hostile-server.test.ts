import { generateKeyPairSync } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import ssh2, { type Connection, type ServerChannel } from 'ssh2';
import { afterEach, expect, test } from 'vitest';
import { fingerprintOf } from '../../../src/safety/secrets/public-key.ts';
import { openConnection } from '../../../src/targets/host/connect/ssh/connection.ts';
import { sshMachine } from '../../../src/targets/host/connect/ssh/remote-machine.ts';
import type { SshTarget } from '../../../src/targets/host/ssh-config.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const pem = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs1',
    format: 'pem',
  }) as string;

/** What ssh2 offers nobody but itself: how a server that keeps to no rule speaks. */
interface Protocol {
  channelData(channel: number, data: Buffer): void;
  /** A global request that wants a reply. */
  ping(): void;
  readonly _handlers: Record<string, unknown>;
  readonly _packetRW: {
    readonly write: {
      readonly allocStart: number;
      alloc(size: number): Buffer;
      finalize(packet: Buffer): Buffer;
    };
  };
  readonly _cipher: { encrypt(packet: Buffer): void };
}
const protocolOf = (client: Connection): Protocol =>
  (client as unknown as { readonly _protocol: Protocol })._protocol;

const { signal } = new AbortController();
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

interface Hostile {
  onClient?(client: Connection, protocol: Protocol): void;
  /** A command after the probe of the shell, which is answered well. */
  onCommand?(stream: ServerChannel, protocol: Protocol, client: Connection): void;
}

async function hostile({
  onClient,
  onCommand,
}: Hostile): Promise<{ target: SshTarget; gone: Promise<void> }> {
  const hostKey = pem();
  const server = new ssh2.Server({ hostKeys: [hostKey] });
  let resolve: () => void = () => undefined;
  const gone = new Promise<void>((ended) => {
    resolve = ended;
  });
  server.on('connection', (client) => {
    const protocol = protocolOf(client);
    client.on('error', () => undefined).on('close', () => resolve());
    onClient?.(client, protocol);
    client.on('authentication', (context) => context.accept());
    client.on('session', (accept) =>
      accept().on('exec', (take, _no, { command }) => {
        const stream = take();
        stream.on('error', () => undefined);
        if (!command.startsWith("'printf'")) return onCommand?.(stream, protocol, client);
        stream.write(`sentry \\ ! $HOME "x" 'y' \`z\` ~ *\n{a,b} #`);
        stream.exit(0);
        stream.end();
      }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  open.push(() => server.close());
  const key = ssh2.utils.parseKey(hostKey) as ssh2.ParsedKey;
  return {
    gone,
    target: {
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      user: 'sentry',
      hostKeys: [{ fingerprint: fingerprintOf(key.getPublicSSH()), type: null }],
      by: { kind: 'key', file: 'client', key: pem(), passphrase: null },
      jump: null,
      sudo: false,
    },
  };
}

test('an answer without end, on a channel that never closes, is neither kept nor listened to', async () => {
  let sent = 0;
  const { target, gone } = await hostile({
    onCommand: (stream, protocol, client) => {
      protocol._handlers['CHANNEL_CLOSE'] = () => undefined;
      const { id } = (stream as unknown as { readonly outgoing: { readonly id: number } }).outgoing;
      const { _sock: socket } = client as unknown as { readonly _sock: Socket };
      const data = Buffer.alloc(16_384, 'x');
      const pump = setInterval(() => {
        for (let n = 0; n < 64 && !socket.destroyed && socket.writableLength < 1_000_000; n += 1) {
          protocol.channelData(id, data);
          sent += data.length;
        }
      }, 1);
      client.on('close', () => clearInterval(pump));
    },
  });
  const connection = openConnection(target);
  open.push(() => connection.close());
  const before = process.memoryUsage().arrayBuffers;
  const run = await connection.run(['cat'], { timeoutMs: 60_000, signal, maxBytes: 4_096 });
  expect(run).toMatchObject({ killed: 'output', isLost: false });
  expect(run.stdout).toHaveLength(4_096);
  collect();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(sent / 4);
  await gone;
});

test('who asks without end and reads no answer is left, before the answers fill the memory', async () => {
  let asked = 0;
  const { target, gone } = await hostile({
    onCommand: (_stream, protocol, client) => {
      const { _sock: socket } = client as unknown as { readonly _sock: Socket };
      socket.pause();
      const pump = setInterval(() => {
        for (let n = 0; n < 5_000 && !socket.destroyed && socket.writableLength < 1_000_000; n += 1) {
          protocol.ping();
          asked += 1;
        }
        // Far more than the answers that are kept, and those that are on their way.
        if (asked > 1_500_000) client.end();
      }, 1);
      client.on('close', () => clearInterval(pump));
    },
  });
  const connection = openConnection(target);
  open.push(() => connection.close());
  const run = await connection.run(['cat'], { timeoutMs: 60_000, signal, maxBytes: 4_096 });
  expect(run).toMatchObject({ killed: null, isLost: true });
  expect(asked).toBeLessThan(1_500_000);
  await gone;
});

test.each([
  ['Host denied', 'Host denied'],
  ['no passphrase for the private key', 'no passphrase for the private key'],
  [
    `\u001b]8;;https://evil.example\u0007${'x'.repeat(20_000)}`,
    `]8;;https://evil.example ${'x'.repeat(175)}`,
  ],
])('who is let in by nobody yet is not believed: %#', async (words, told) => {
  const { target } = await hostile({
    onClient: (_, protocol) => sayGoodbye(protocol, words),
  });
  const machine = sshMachine(target);
  open.push(() => machine.close());
  await expect(machine.identity()).rejects.toMatchObject({
    code: 'HOST_AWAY',
    message: `127.0.0.1:${target.port} could not be connected to: it says: ${told}.`,
  });
});

/** RFC 4253, 11.1: a disconnect, before any key is exchanged. */
function sayGoodbye({ _packetRW: { write }, _cipher }: Protocol, words: string): void {
  const size = Buffer.byteLength(words);
  const at = write.allocStart;
  const packet = write.alloc(1 + 4 + 4 + size + 4);
  packet[at] = 1;
  packet.writeUInt32BE(2, at + 1);
  packet.writeUInt32BE(size, at + 5);
  packet.write(words, at + 9);
  packet.writeUInt32BE(0, at + 9 + size);
  _cipher.encrypt(write.finalize(packet));
}
