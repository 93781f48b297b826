import { isIP } from 'node:net';
import type { Grammar, ValueType } from '../grammar.ts';
import { list, matching, none, oneOf } from '../values.ts';
import { switches } from './flags.ts';

/** `-c` (for ever), `-F` and `-C` (the kernel's routing tables in full) are left out. */
export const netstat: Grammar = {
  binary: 'netstat',
  usage: 'netstat [-a -n -t -u -l -p -e -r -s -i -g -o -v -w -x -W -4 -6]; once, without -c',
  flags: [
    ...['-a', '-n', '-t', '-u', '-l', '-p', '-r', '-s', '-i', '-g', '-o'].map((name) => ({ names: [name] })),
    ...switches('-v', '-w', '-x', '-W', '-4', '-6'),
    { names: ['-e', '--extend'], times: 2 },
    ...switches('--all', '--numeric', '--numeric-hosts', '--numeric-ports', '--tcp', '--udp', '--listening'),
    ...switches('--program', '--programs', '--route', '--statistics', '--interfaces', '--groups', '--timers'),
    ...switches('--verbose', '--raw', '--unix', '--wide', '--inet', '--inet6', '--symbolic', '--notrim'),
    ...switches('-M', '-N', '-S', '-T', '-U', '--masquerade', '--numeric-users', '--udplite', '--sctp'),
    { names: ['-A', '--protocol'], value: list(oneOf('inet', 'inet6', 'unix')) },
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

/** ss(8), `-A QUERY`, with `!` for "without". */
const socketTable = matching(
  /^!?(?:all|inet|tcp|udp|raw|unix|unix_(?:dgram|stream|seqpacket)|packet(?:_raw|_dgram)?|netlink|dccp|sctp|tipc|vsock(?:_stream|_dgram)?|xdp|mptcp)$/u,
);

/** `193.233.7/24`, as ss(8) writes networks. */
const shortPrefix = /^\d{1,3}(?:\.\d{1,3}){0,2}\/\d{1,2}$/u;

/** Addresses are literal: a name would be looked up, and a look-up can carry data out. */
const address: ValueType = (text) => {
  const [, host = '', , port] = /^\[?([0-9a-f.:]+?)\]?(\/\d{1,3})?(?::(\d{1,5}))?$/iu.exec(text) ?? [];
  return (isIP(host) !== 0 || shortPrefix.test(text)) && Number(port ?? 0) <= 65_535 ? text : undefined;
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
    'ss [-a -n -t -u -l -p -e -m -i -s -o -x -w -4 -6 -H -O] [-f family] [-A tables] [state NAME] [sport|dport = :PORT]',
  flags: [
    ...[
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
      '-d',
      '-S',
      '-M',
      '-0',
    ].map((name) => ({ names: [name] })),
    ...switches('-4', '-6', '-b', '-B', '-H', '-O', '-Q', '-T', '-Z', '-z'),
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
    ...switches('--info', '--summary', '--options', '--unix', '--raw', '--ipv4', '--ipv6', '--no-header'),
    ...switches('--oneline', '--bound-inactive', '--bpf', '--cgroup', '--context', '--contexts', '--dccp'),
    ...switches(
      '--inet-sockopt',
      '--mptcp',
      '--no-queues',
      '--packet',
      '--sctp',
      '--threads',
      '--tipc',
      '--tipcinfo',
    ),
    ...switches('--tos', '--vsock', '--xdp'),
    { names: ['-A', '--query', '--socket'], value: list(socketTable) },
    { names: ['-f', '--family'], value: oneOf('inet', 'inet6', 'unix', 'link', 'netlink') },
  ],
  operands: { type: filter, min: 0, max: 20, are: 'a filter of states, ports and literal addresses' },
};
