import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';

/** A DNS server on this machine that answers A questions as a test says, and a resolver that asks it. */
export interface LocalDns {
  /** The names that were asked for, in order. */
  readonly asked: string[];
  resolve(host: string): Promise<readonly { readonly address: string; readonly family: number }[]>;
  stop(): void;
}

/** `answer`: the IPv4 addresses of a name; `count` is how often it was asked for before. */
export async function localDns(
  answer: (name: string, count: number) => readonly string[],
): Promise<LocalDns> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const name = nameIn(question);
    const before = asked.filter((each) => each === name).length;
    asked.push(name);
    socket.send(reply(question, answer(name, before)), from.port, from.address);
  });
  await new Promise<void>((listening) => socket.bind(0, '127.0.0.1', listening));
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${(socket.address() as AddressInfo).port}`]);
  return {
    asked,
    resolve: async (host) => (await resolver.resolve4(host)).map((address) => ({ address, family: 4 })),
    stop: () => socket.close(),
  };
}

/** RFC 1035, 4.1.2: labels with their lengths before them. */
function nameIn(message: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; ; ) {
    const length = message[at] ?? 0;
    if (length === 0) return labels.join('.');
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
}

/** The question again, with an answer each that points back to its name; time to live 0. */
function reply(question: Buffer, addresses: readonly string[]): Buffer {
  const end = question.indexOf(0, 12) + 5;
  const head = Buffer.from(question.subarray(0, end));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  const answers = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...answers]);
}
