import { isIP } from 'node:net';
import type { Grammar, ValueType } from '../grammar.ts';
import { matching, none, oneOf } from '../values.ts';
import { switches } from './flags.ts';

/** `-c` (for ever), `-M`, `-C` and what reads other files are left out. */
export const netstat: Grammar = {
  binary: 'netstat',
  usage: 'netstat [-a -n -t -u -l -p -e -r -s -i -g -o -v -w -x -W -4 -6]; once, without -c',
  flags: [
    ...['-a', '-n', '-t', '-u', '-l', '-p', '-r', '-s', '-i', '-g', '-o'].map((name) => ({ names: [name] })),
    ...switches('-v', '-w', '-x', '-W', '-4', '-6'),
    { names: ['-e', '--extend'], times: 2 },
    ...switches('--all', '--numeric', '--numeric-hosts', '--numeric-ports', '--tcp', '--udp', '--listening'),
    ...switches('--program', '--programs', '--route', '--statistics', '--interfaces', '--groups', '--timers'),
    ...switches('--verbose', '--raw', '--unix', '--wide', '--inet', '--inet6'),
  ],
  operands: { type: none, min: 0, max: 0, are: 'no argument' },
};

const filterWord = matching(
  /^(?:state|exclude|sport|dport|src|dst|and|or|not|eq|neq|ne|gt|lt|ge|le|=|==|!=|<=?|>=?|\(|\))$/u,
);
const tcpState = oneOf(
  'all',
  'connected',
  'synchronized',
  'bucket',
  'big',
  'established',
  'syn-sent',
  'syn-recv',
  'fin-wait-1',
  'fin-wait-2',
  'time-wait',
  'closed',
  'close-wait',
  'last-ack',
  'listening',
  'listen',
  'closing',
  'new-syn-recv',
);
const portWord = matching(/^:(?:\d{1,5}|[a-z][a-z0-9-]{0,14})$/u);

/** Addresses are literal: a name would be looked up, and a look-up can carry data out. */
const address: ValueType = (text) => {
  const [, host = '', , port] = /^\[?([0-9a-f.:]+?)\]?(\/\d{1,3})?(?::(\d{1,5}))?$/iu.exec(text) ?? [];
  return isIP(host) !== 0 && Number(port ?? 0) <= 65_535 ? text : undefined;
};

const filter: ValueType = (text, policy) =>
  text
    .trim()
    .split(/ +/u)
    .every((word) =>
      [filterWord, tcpState, portWord, address].some((type) => type(word, policy) !== undefined),
    )
    ? text
    : undefined;

/** `-K` closes sockets, `-D` writes and `-F` reads a file, `-E` never ends, `-N` enters a namespace: left out. */
export const ss: Grammar = {
  binary: 'ss',
  usage:
    'ss [-a -n -t -u -l -p -e -m -i -s -o -x -w -4 -6 -H -O] [-f family] [state NAME] [sport|dport = :PORT]',
  flags: [
    ...switches(
      '-a',
      '-n',
      '-t',
      '-u',
      '-l',
      '-p',
      '-e',
      '-m',
      '-i',
      '-s',
      '-o',
      '-x',
      '-w',
      '-4',
      '-6',
      '-H',
      '-O',
    ),
    ...switches(
      '--all',
      '--numeric',
      '--tcp',
      '--udp',
      '--listening',
      '--processes',
      '--extended',
      '--memory',
    ),
    ...switches(
      '--info',
      '--summary',
      '--options',
      '--unix',
      '--raw',
      '--ipv4',
      '--ipv6',
      '--no-header',
      '--oneline',
    ),
    { names: ['-f', '--family'], value: oneOf('inet', 'inet6', 'unix', 'link', 'netlink') },
  ],
  operands: { type: filter, min: 0, max: 20, are: 'a filter of states, ports and literal addresses' },
};
