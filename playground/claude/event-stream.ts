import { crc32 } from 'node:zlib';

/**
 * One frame of AWS's binary event stream (application/vnd.amazon.eventstream): lengths, their checksum, headers of
 * strings, payload, checksum of all of it. All numbers are big-endian; checksums are CRC-32.
 */
export function eventFrame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(8 + 4 + head.length + body.length + 4, 0);
  prelude.writeUInt32BE(head.length, 4);
  const unsigned = Buffer.concat([prelude, checksum(prelude), head, body]);
  return Buffer.concat([unsigned, checksum(unsigned)]);
}

/** Type of a header's value: a string with its length in two bytes. */
const STRING = 7;

function header(name: string, value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    Buffer.from([STRING]),
    length,
    bytes,
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
