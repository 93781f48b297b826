import type { Grammar, ValueType } from '../grammar.ts';
import { integer, list, matching, none, oneOf } from '../values.ts';
import { switches } from './flags.ts';

/** A delay and how often: without the second it would go on for ever. Together 25 s at most. */
const repeats = {
  operands: { type: integer(1, 5), min: 0, max: 2, are: 'a delay of 1 to 5 s and a count of 1 to 5' },
  whole: (given: readonly string[]) =>
    given.length === 1 ? 'it goes on for ever without a count: give a delay and a count.' : undefined,
};

export const vmstat: Grammar = {
  binary: 'vmstat',
  usage: 'vmstat [-a -s -d -D -m -f -n -t -w] [-S k|K|m|M] [DELAY COUNT]',
  flags: [
    ...switches('-a', '-s', '-d', '-D', '-m', '-f', '-n', '-t', '-w'),
    { names: ['-S', '--unit'], value: oneOf('k', 'K', 'm', 'M') },
  ],
  ...repeats,
};

export const iostat: Grammar = {
  binary: 'iostat',
  usage: 'iostat [-c -d -h -k -m -N -s -t -x -y -z] [DELAY COUNT]',
  flags: switches('-c', '-d', '-h', '-k', '-m', '-N', '-s', '-t', '-x', '-y', '-z'),
  ...repeats,
};

const level = oneOf('emerg', 'alert', 'crit', 'err', 'warn', 'notice', 'info', 'debug');
const facility = oneOf('kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news');

/** `-c` and `-C` clear the buffer, `-n`, `-D` and `-E` change the console, `-w` follows, `-F` reads a file: left out. */
export const dmesg: Grammar = {
  binary: 'dmesg',
  usage: 'dmesg [-T -t -k -u -x -d -r -P] [-l levels] [-f facilities]',
  enforced: [{ words: ['--color=never'] }],
  flags: [
    ...switches('-T', '--ctime', '-t', '--notime', '-k', '--kernel', '-u', '--userspace', '-x', '--decode'),
    ...switches('-d', '--show-delta', '-r', '--raw', '-P', '--nopager'),
    { names: ['-l', '--level'], value: list(level) },
    { names: ['-f', '--facility'], value: list(facility) },
  ],
  operands: { type: none, min: 0, max: 0, are: 'no argument' },
};

export const uname: Grammar = {
  binary: 'uname',
  usage: 'uname [-a -s -n -r -v -m -p -i -o]',
  flags: switches('-a', '--all', '-s', '-n', '-r', '-v', '-m', '-p', '-i', '-o'),
  operands: { type: none, min: 0, max: 0, are: 'no argument' },
};

/** A name as its argument would be set; `-F` reads one from a file. */
export const hostname: Grammar = {
  binary: 'hostname',
  usage: 'hostname [-f -s -d -i -I]',
  flags: switches('-f', '--fqdn', '-s', '--short', '-d', '--domain', '-i', '-I', '--all-ip-addresses'),
  operands: { type: none, min: 0, max: 0, are: 'no argument' },
};

const user = matching(/^[a-z_][a-z0-9_.-]{0,31}$/u);
/** `%CPU`, `+RES`. */
const field: ValueType = matching(/^[+-]?%?[A-Za-z]{1,12}$/u);

/** Once and without a screen, whatever is asked for. */
export const top: Grammar = {
  binary: 'top',
  usage: 'top -b [-n 1…2] [-d 1…5] [-c -H -i] [-o FIELD] [-p PIDS] [-u USER] [-w COLUMNS]',
  enforced: [{ words: ['-b'] }, { unless: '-n', words: ['-n', '1'] }],
  flags: [
    { names: ['-b', '--batch-mode'], emit: () => [] },
    { names: ['-n', '--iterations'], value: integer(1, 2) },
    { names: ['-d', '--delay'], value: integer(1, 5) },
    ...switches('-c', '-H', '-i'),
    { names: ['-o'], value: field },
    { names: ['-p'], value: list(integer(1, 4_194_304)) },
    { names: ['-u'], value: user },
    { names: ['-w'], value: integer(20, 512) },
  ],
  operands: { type: none, min: 0, max: 0, are: 'no argument' },
};
