import { isIP } from 'node:net';
import type { Grammar, ValueType } from '../grammar.ts';
import { decimal, integer, matching, oneOf } from '../values.ts';
import { switches } from './flags.ts';

/**
 * A name that is looked up leaves the machine, so it must not be able to carry much: few short labels that read like
 * names. That slows down whoever sends data out as names; it does not stop a bit at a time (the throttle does).
 */
function looksLikeName(text: string): boolean {
  const labels = text.toLowerCase().split('.');
  return (
    text.length <= 80 &&
    labels.length <= 6 &&
    labels.every(
      (label) => /^[a-z0-9_](?:[a-z0-9_-]{0,28}[a-z0-9])?$/u.test(label) && !looksLikeData(label),
    ) &&
    // An address within a name is what somebody wants to know elsewhere: a model that sees placeholders can build it too.
    !/(?:^|\.)\d{1,3}(?:\.\d{1,3}){3}\./u.test(text) &&
    // A last label that starts with a digit is an address in some notation (URL standard: "ends in a number").
    !/^(?:\d|0x)/u.test(labels.at(-1) ?? '')
  );
}

/** Hexadecimal, base32 and the like: long runs that mix digits and letters without a hyphen. */
function looksLikeData(label: string): boolean {
  return label.split(/[-_]/u).some((part) => part.length >= 16 && /\d/u.test(part) && /[a-z]/u.test(part));
}

/** IPv4 as four decimal numbers, IPv6 without a zone; no multicast, broadcast or unspecified address. */
function isOneMachine(text: string): boolean {
  if (isIP(text) === 4) return !/^(?:0|22[4-9]|23\d|24\d|25[0-5])\./u.test(text);
  return isIP(text) === 6 && !text.includes('%') && !/^(?:ff|::$)/iu.test(text);
}

/** A name or address that may be asked for beyond this machine. */
export const lookedUpHost: ValueType = (text) =>
  isOneMachine(text) || looksLikeName(text) ? text : undefined;

/** Flooding, patterns, record-route, preload and broadcast are left out; count and deadline are put in. */
export const ping: Grammar = {
  binary: 'ping',
  usage:
    'ping [-c 1…100] [-w 1…30] [-W 0.1…10] [-i 0.2…10] [-s 0…8972] [-t TTL] [-M do] [-I interface] [-n -q -4 -6] HOST; 4 packets and 20 s when left out',
  enforced: [
    { unless: '-c', words: ['-c', '4'] },
    { unless: '-w', words: ['-w', '20'] },
  ],
  flags: [
    { names: ['-c'], value: integer(1, 100) },
    { names: ['-w'], value: integer(1, 30) },
    { names: ['-W'], value: decimal(0.1, 10) },
    { names: ['-i'], value: decimal(0.2, 10) },
    { names: ['-s'], value: integer(0, 8972) },
    { names: ['-t'], value: integer(1, 255) },
    { names: ['-M'], value: oneOf('do', 'dont', 'want') },
    { names: ['-I'], value: matching(/^[a-z][a-z0-9._-]{1,14}$/u) },
    ...switches('-n', '-q', '-4', '-6', '-v', '-O', '-D', '-U'),
  ],
  operands: { type: lookedUpHost, min: 1, max: 1, are: 'one host name or plain IP address' },
};
