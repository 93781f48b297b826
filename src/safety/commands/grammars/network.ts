import { isIP } from 'node:net';
import type { Grammar, ValueType } from '../grammar.ts';
import { matching, oneOf } from '../values.ts';
import { switches } from './flags.ts';
import { lookedUpHost } from './ping.ts';

const objects: Readonly<Record<string, string>> = {
  a: 'address',
  addr: 'address',
  address: 'address',
  l: 'link',
  link: 'link',
  r: 'route',
  route: 'route',
  n: 'neighbour',
  neigh: 'neighbour',
  neighbor: 'neighbour',
  neighbour: 'neighbour',
  rule: 'rule',
};
const shows = ['show', 'list', 'ls'];
const device = /^[a-z][a-z0-9._@-]{0,14}$/u;
const filters: readonly RegExp[] = [
  /^$/u,
  /^(?:up|default)$/u,
  device,
  /^dev [a-z][a-z0-9._@-]{0,14}$/u,
  /^table (?:main|local|default|all|\d{1,9})$/u,
];
const long = new Map([
  ['-br', '--brief'],
  ['-brief', '--brief'],
  ['-stats', '-s'],
  ['-statistics', '-s'],
  ['-details', '-d'],
  ['-json', '-j'],
  ['-oneline', '-o'],
]);

/** What `ip` shows; it abbreviates every word, so each stands here whole. `-b` reads commands from a file, `-n` enters a namespace. */
export const ip: Grammar = {
  binary: 'ip',
  usage:
    'ip [-4 -6 -s -d -j -o -br] address|link|route|neighbour|rule [show [dev NAME | up | table NAME]] | ip route get ADDRESS',
  rewrite: (words) =>
    words.map((word) => ({
      text: word.quoted ? word.text : (long.get(word.text) ?? word.text),
      quoted: word.quoted,
    })),
  flags: [
    ...switches('-4', '-6', '-d', '-j', '-o', '-p'),
    { names: ['-s'], times: 2 },
    { names: ['--brief'], emit: () => ['-br'] },
  ],
  operands: {
    type: matching(/^[a-z0-9][a-z0-9.:_@-]{0,45}$/u),
    min: 1,
    max: 4,
    are: 'what to show, such as "address show"',
  },
  whole([object = '', verb, ...rest]) {
    const full = Object.hasOwn(objects, object) ? objects[object] : undefined;
    if (full === undefined)
      return `"${object}" is not one of ${[...new Set(Object.values(objects))].join(', ')}.`;
    if (verb === undefined) return undefined;
    if (full === 'route' && verb === 'get' && rest.length === 1 && isIP(rest[0] ?? '') !== 0)
      return undefined;
    if (!shows.includes(verb)) return 'only what it shows is a diagnostic; the rest changes things.';
    return filters.some((filter) => filter.test(rest.join(' ')))
      ? undefined
      : `"${rest.join(' ')}" is no filter.`;
  },
};

const option = matching(
  /^\+(?:(?:no)?(?:short|all|answer|comments|question|authority|additional|stats|cmd|tcp|dnssec|recurse|multiline)|time=[1-5]|tries=[1-3])$/u,
);
const recordType = oneOf('A', 'AAAA', 'ANY', 'CAA', 'CNAME', 'DS', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT');
/** A resolver of this network: another one would be told what is asked. */
const server: ValueType = (text) =>
  /^@(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/u.test(text) && isIP(text.slice(1)) === 4
    ? text
    : undefined;

/** `-f` reads a file of questions, `-k` and `-y` take keys: left out. */
export const dig: Grammar = {
  binary: 'dig',
  usage: 'dig [@RESOLVER] NAME [A|AAAA|MX|…] [+short +noall +answer +tcp +time=1…5] | dig -x ADDRESS',
  enforced: [{ words: ['+time=3', '+tries=2'] }],
  flags: [
    ...switches('-4', '-6'),
    { names: ['-x'], value: (text) => (isIP(text) !== 0 ? text : undefined) },
    { names: ['-t'], value: (text, policy) => recordType(text.toUpperCase(), policy) },
  ],
  operands: {
    type: (text, policy) =>
      option(text, policy) ??
      recordType(text.toUpperCase(), policy) ??
      server(text, policy) ??
      (text.startsWith('+') ? undefined : lookedUpHost(text, policy)),
    min: 0,
    max: 10,
    are: 'a name, a record type, a resolver of this network or an option such as +short',
  },
  whole(words, given) {
    const names = words.filter(
      (word) =>
        !/^[+@]/u.test(word) &&
        recordType(word, { curlHosts: [], curlDeniedPorts: [], logRoots: [] }) === undefined,
    );
    return names.length + (given.has('-x') ? 1 : 0) === 1
      ? undefined
      : 'it needs exactly one name or address.';
  },
};
