import type { Grammar } from '../grammar.ts';
import { integer, matching, oneOf } from '../values.ts';
import { switches } from './flags.ts';

const MAX_LINES = 2000;

const unit = matching(/^[A-Za-z0-9_@:][A-Za-z0-9_.@:?*-]{0,254}$/u);
/** systemd.time(7): `2026-11-23 10:00`, `-2h`, `1 hour ago`, `yesterday`, `@1795342747`. */
const moment = matching(/^(?:[@+-]?[0-9][0-9A-Za-z :.+-]{0,40}|yesterday|today|now)$/u);
const isBoot = (text: string): boolean => /^-?\d{1,3}$/u.test(text);
const priorities = 'emerg|alert|crit|err|warning|notice|info|debug|[0-7]';

/**
 * Bounded by its own arguments. `-f` follows; `--file`, `-D`, `--root`, `--image`, `-M` and `--namespace` read elsewhere;
 * `--cursor-file` writes; `--vacuum-…`, `--rotate`, `--flush`, `--sync` and `--setup-keys` change the journal: left out.
 */
export const journalctl: Grammar = {
  binary: 'journalctl',
  usage: `journalctl [-u UNIT] [-n 1…${MAX_LINES}] [-S SINCE] [-U UNTIL] [-p PRIORITY] [-b] [-k] [-r] [-g TEXT] [-o FORMAT] [FIELD=VALUE …]; a finished answer, so never -f`,
  enforced: [{ words: ['--no-pager'] }, { unless: '-n', words: ['-n', '200'] }],
  // `-b -1`, the boot before, is one flag.
  rewrite: (words) =>
    words.flatMap((word, at) => {
      const [before, next] = [words[at - 1], words[at + 1]];
      if (word.text === '-b' && next && isBoot(next.text)) return [{ text: `-b${next.text}`, quoted: false }];
      return before?.text === '-b' && isBoot(word.text) ? [] : [word];
    }),
  flags: [
    { names: ['--no-pager'], emit: () => [] },
    { names: ['-n', '--lines'], value: integer(1, MAX_LINES) },
    { names: ['-u', '--unit'], value: unit, emit: (value) => [`--unit=${value ?? ''}`], times: 5 },
    {
      names: ['-t', '--identifier'],
      value: unit,
      emit: (value) => [`--identifier=${value ?? ''}`],
      times: 5,
    },
    { names: ['-S', '--since'], value: moment, emit: (value) => [`--since=${value ?? ''}`] },
    { names: ['-U', '--until'], value: moment, emit: (value) => [`--until=${value ?? ''}`] },
    {
      names: ['-p', '--priority'],
      value: matching(new RegExp(`^(?:${priorities})(?:\\.\\.(?:${priorities}))?$`, 'u')),
    },
    // A text: patterns of its library can take for ever.
    {
      names: ['-g', '--grep'],
      value: matching(/^[\w ./:@=,-]{1,80}$/u),
      emit: (value) => [`--grep=${value ?? ''}`],
    },
    {
      names: ['-b', '--boot'],
      value: (text) => (isBoot(text) ? text : undefined),
      optionalValue: true,
      emit: (value) => [`--boot=${value ?? ''}`],
    },
    {
      names: ['-o', '--output'],
      value: oneOf(
        'short',
        'short-iso',
        'short-precise',
        'short-full',
        'short-monotonic',
        'with-unit',
        'cat',
        'json',
      ),
    },
    ...switches('-k', '--dmesg', '-r', '--reverse', '-q', '--quiet', '-a', '--all', '--utc', '--no-hostname'),
    // `-x` adds explanations, `-e` jumps to the end in a pager, of which there is none: the newest lines come anyway.
    ...switches('-x', '--catalog'),
    { names: ['-e', '--pager-end'], emit: () => [] },
    ...switches('--disk-usage', '--list-boots'),
  ],
  operands: {
    type: matching(/^_?[A-Z][A-Z0-9_]{1,40}=[\w.@:/ -]{1,100}$/u),
    min: 0,
    max: 5,
    are: 'a field of the journal, such as _PID=42',
  },
};
