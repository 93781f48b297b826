import { isAbsolute } from 'node:path';
import { readPathText } from '../../paths/path-text.ts';
import { isSecretFile } from '../../paths/secret-files.ts';
import { isInside } from '../../paths/system-folders.ts';
import type { Grammar, ValueType } from '../grammar.ts';
import type { CommandPolicy, LogRoot } from '../policy.ts';
import { integer } from '../values.ts';
import { switches } from './flags.ts';

const MAX_LINES = 2000;
const MAX_BYTES = 1024 * 1024;

/** Whether a path is a log by its name or by a folder on the way. */
export function looksLikeLog(path: string): boolean {
  return /\/(?:pg_|x|sys)?logs?\/|\/[^/]*(?:\.log(?:[._-][^/]*)?|[._-]log|\.(?:out|err|trace))$/iu.test(path);
}

/** The root a log file belongs to, judged by its text. What it resolves to is judged again when it is opened. */
export function logRootOf(path: string, policy: CommandPolicy): LogRoot | undefined {
  return policy.logRoots.find(
    ({ root, logsOnly }) => isInside(root, path) && path !== root && (!logsOnly || looksLikeLog(path)),
  );
}

const logFile: ValueType = (text, policy) => {
  const read = readPathText(text);
  if (!read.ok || !isAbsolute(text)) return undefined;
  const path = `/${read.segments.join('/')}`;
  return logRootOf(path, policy) && !isSecretFile(path) ? path : undefined;
};

/** `100`, and `-100`, which means the same; never `+1`, which means the whole file. */
const lines: ValueType = (text, policy) => integer(1, MAX_LINES)(text.replace(/^-/u, ''), policy);

const bytes: ValueType = (text, policy) => {
  const [, count = '', unit = ''] = /^-?(\d+)([kKM]?)$/u.exec(text) ?? [];
  const factor = unit === '' ? 1 : unit === 'M' ? 1024 * 1024 : 1024;
  return integer(1, MAX_BYTES)(String(Number(count || Number.NaN) * factor), policy);
};

/** A flag whose value is the next word: `-n -20` is one flag, not two. */
const takesNext = /^(?:-[qv]*[nc]|--lines|--bytes)$/u;

/** Bounded by its own arguments, so never following: `-f`, `-F`, `--retry`, `--pid` and `-s` are left out. */
export const tail: Grammar = {
  binary: 'tail',
  usage: `tail [-n 1…${MAX_LINES} | -c BYTES] /var/log/FILE …; a finished answer, so never -f, -F or +N`,
  flags: [
    { names: ['-n', '--lines'], value: lines },
    { names: ['-c', '--bytes'], value: bytes },
    ...switches('-q', '--quiet', '--silent', '-v', '--verbose'),
  ],
  conflicts: [['-n', '-c']],
  rewrite: (words) =>
    words.map((word, at) =>
      !word.quoted && /^-\d+$/u.test(word.text) && !takesNext.test(words[at - 1]?.text ?? '')
        ? { text: `-n${word.text.slice(1)}`, quoted: false }
        : word,
    ),
  operands: { type: logFile, min: 1, max: 5, are: 'a log file under an allowed folder such as /var/log' },
  files: true,
};
