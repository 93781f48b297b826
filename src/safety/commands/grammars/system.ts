import type { Grammar } from '../grammar.ts';
import { list, matching, none, oneOf } from '../values.ts';
import { switches } from './flags.ts';

const mountPath = matching(/^(?:\.|\/(?!.*\/\.\.?(?:\/|$))[A-Za-z0-9_.@:/+-]{0,400})$/u);
const fileSystem = matching(/^[a-z0-9._]{1,30}$/u);
const dfColumn = oneOf(
  'source',
  'fstype',
  'itotal',
  'iused',
  'iavail',
  'ipcent',
  'size',
  'used',
  'avail',
  'pcent',
  'file',
  'target',
);

/** `--sync` is left out: it makes the kernel write. */
export const df: Grammar = {
  binary: 'df',
  usage:
    'df [-h -H -i -T -a -k -m -l -P] [-B size] [-t type] [-x type] [--total] [--output=columns] [/path …]',
  flags: [
    ...switches('-a', '-h', '-H', '-i', '-k', '-l', '-m', '-P', '-T'),
    ...switches('--all', '--human-readable', '--si', '--inodes', '--local', '--portability', '--print-type'),
    ...switches('--total', '--no-sync'),
    {
      names: ['-B', '--block-size'],
      value: matching(/^(?=.)(?:(?:[1-9]\d{0,9})?(?:[kKMGTPE]i?B?)?|human-readable|si)$/u),
    },
    { names: ['-t', '--type'], value: fileSystem, times: 5 },
    { names: ['-x', '--exclude-type'], value: fileSystem, times: 10 },
    { names: ['--output'], value: list(dfColumn), optionalValue: true },
  ],
  operands: { type: mountPath, min: 0, max: 10, are: 'an absolute path without ".."' },
};

/** `-s` and `-c` repeat the answer without an end of their own. */
export const free: Grammar = {
  binary: 'free',
  usage: 'free [-b -k -m -g -h] [-t -w -l]; once, without -s or -c',
  flags: [
    ...switches('-b', '-k', '-m', '-g', '-h', '-t', '-w', '-l', '-v'),
    ...switches('--bytes', '--kilo', '--mega', '--giga', '--tera', '--kibi', '--mebi', '--gibi', '--tebi'),
    ...switches('-L', '--human', '--si', '--total', '--wide', '--lohi', '--committed', '--line'),
  ],
  operands: { type: none, min: 0, max: 0, are: 'no argument' },
};

export const uptime: Grammar = {
  binary: 'uptime',
  usage: 'uptime [-p] [-r] [-s]',
  flags: switches('-p', '-r', '-s', '--pretty', '--raw', '--since'),
  operands: { type: none, min: 0, max: 0, are: 'no argument' },
};

/** Its variables (OMP_NUM_THREADS) are not in the environment that it is given. */
export const nproc: Grammar = {
  binary: 'nproc',
  usage: 'nproc [--all]',
  flags: switches('--all'),
  operands: { type: none, min: 0, max: 0, are: 'no argument' },
};

/** Of the account that Sentry uses; a name would be looked up, in a directory elsewhere perhaps. */
export const id: Grammar = {
  binary: 'id',
  usage: 'id [-u -g -G] [-n]',
  flags: switches('-u', '-g', '-G', '-n', '--user', '--group', '--groups', '--name'),
  operands: { type: none, min: 0, max: 0, are: 'no argument' },
};

/** `--lookup` asks name servers, and a file would be read: left out. */
export const who: Grammar = {
  binary: 'who',
  usage: 'who [-a -b -H -q -r -u]',
  flags: switches('-a', '-b', '-H', '-q', '-r', '-u', '--all', '--boot', '--heading', '--count', '--users'),
  operands: { type: none, min: 0, max: 0, are: 'no argument' },
};
