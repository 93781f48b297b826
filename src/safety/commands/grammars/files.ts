import { isAbsolute } from 'node:path';
import { readPathText } from '../../paths/path-text.ts';
import { isSecretFile } from '../../paths/secret-files.ts';
import { isInside } from '../../paths/system-folders.ts';
import type { Grammar, ValueType } from '../grammar.ts';
import { integer, list, matching, oneOf } from '../values.ts';
import { switches } from './flags.ts';

/** At or below a folder whose logs may be read: names and sizes, never what is in a file. */
const inFolder: ValueType = (text, policy) => {
  const read = readPathText(text);
  if (!read.ok || !isAbsolute(text)) return undefined;
  const path = `/${read.segments.join('/')}`;
  return policy.logRoots.some(({ root }) => isInside(root, path)) && !isSecretFile(path) ? path : undefined;
};
const folders = {
  type: inFolder,
  min: 1,
  max: 10,
  are: 'an absolute path in an allowed folder such as /var/log',
};

/** `-L`, `-D` and `-H` follow links, `-X` and `--files0-from` read a file: left out. */
export const du: Grammar = {
  binary: 'du',
  usage: 'du [-s -h -a -c -x -k -m -S] [-d 0…5] [-t SIZE] [--apparent-size] [--inodes] /path …',
  enforced: [{ words: ['-x'] }],
  flags: [
    ...switches(
      '-s',
      '--summarize',
      '-h',
      '--human-readable',
      '-a',
      '--all',
      '-c',
      '--total',
      '-k',
      '-m',
      '-b',
    ),
    ...switches('-S', '--separate-dirs', '--si', '--apparent-size', '--inodes'),
    { names: ['-x', '--one-file-system'], emit: () => [] },
    { names: ['-d', '--max-depth'], value: integer(0, 5), emit: (value) => [`--max-depth=${value ?? ''}`] },
    {
      names: ['-t', '--threshold'],
      value: matching(/^\d{1,6}[kKMGT]?B?$/u),
      emit: (value) => [`--threshold=${value ?? ''}`],
    },
  ],
  operands: folders,
};

/** In the long form, which shows a link and does not follow it; `-L` and `-H` would, `-R` goes on for long: left out. */
export const ls: Grammar = {
  binary: 'ls',
  usage: 'ls [-l -a -A -h -t -r -S -d -i -n -s -F -p -X] [--full-time] /path …',
  enforced: [{ words: ['-l', '--color=never'] }],
  flags: [
    { names: ['-l'], emit: () => [] },
    { names: ['-1'], emit: () => [] },
    ...switches('-a', '--all', '-A', '-h', '--human-readable', '-t', '-r', '--reverse', '-S', '-d', '-i'),
    ...switches('-n', '-s', '-F', '-p', '-X', '-c', '-u', '-U', '-g', '-o', '-G', '--full-time'),
    {
      names: ['--sort'],
      value: oneOf('size', 'time', 'name', 'none'),
      emit: (value) => [`--sort=${value ?? ''}`],
    },
  ],
  operands: folders,
};

const host = matching(
  /^(?:[46])?(?:TCP|UDP|tcp|udp)?(?:@(?:[0-9.]{7,15}|\[[0-9a-f:]+\]))?(?::\d{1,5}(?:[-,]\d{1,5}){0,5})?$/u,
);
const internet: ValueType = (text, policy) => (text === '' ? undefined : host(text, policy));
const names = list(matching(/^\^?[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}$/u));

/**
 * Without names of hosts and ports, whose look-up leaves the machine. `-r` repeats, `-D`, `-m` and `-k` name files, `+D` reads whole
 * trees: left out.
 */
export const lsof: Grammar = {
  binary: 'lsof',
  usage:
    'lsof [-i[TCP|UDP][:PORT]] [-sTCP:LISTEN] [-p PIDS] [-u USERS] [-c NAME] [-a -t -l -R -U] [+L1 | /path]',
  enforced: [{ words: ['-n', '-P', '-w'] }],
  rewrite: (words) =>
    words.flatMap((word, at) => {
      const before = words[at - 1];
      const next = words[at + 1];
      if (!word.quoted && word.text === '-i' && next && /^[46:@TUtu]/u.test(next.text))
        return [{ text: `-i${next.text}`, quoted: false }];
      return before && !before.quoted && before.text === '-i' && /^[46:@TUtu]/u.test(word.text) ? [] : [word];
    }),
  flags: [
    { names: ['-n'], emit: () => [] },
    { names: ['-P'], emit: () => [] },
    { names: ['-w'], emit: () => [] },
    ...switches('-a', '-t', '-l', '-R', '-U', '-N'),
    { names: ['-i'], value: internet, optionalValue: true, emit: (value) => [`-i${value ?? ''}`] },
    {
      names: ['-s'],
      value: matching(/^(?:TCP|UDP):\^?[A-Za-z_]{2,16}(?:,\^?[A-Za-z_]{2,16}){0,5}$/u),
      emit: (value) => [`-s${value ?? ''}`],
    },
    { names: ['-p'], value: list(integer(1, 4_194_304)) },
    { names: ['-u'], value: names },
    { names: ['-c'], value: matching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}$/u), times: 3 },
  ],
  operands: {
    type: (text, policy) => (text === '+L1' ? text : inFolder(text, policy)),
    min: 0,
    max: 1,
    are: '"+L1" (deleted files that are still open) or an absolute path in an allowed folder',
  },
  // lsof takes what follows a bare -i for its value.
  whole: ([operand], given) =>
    operand !== undefined && given.has('-i') ? '-i does not go with a path or +L1.' : undefined,
};
