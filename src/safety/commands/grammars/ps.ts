import type { Grammar, ValueType } from '../grammar.ts';
import type { Word } from '../tokenize.ts';
import { integer, list, matching } from '../values.ts';
import { switches } from './flags.ts';

/** ps(1), STANDARD FORMAT SPECIFIERS, without those that show environments. */
const columns = new Set(
  (
    '%cpu %mem args bsdstart bsdtime c cgname cgroup cls cmd comm command cp cpu cputime cputimes cuc drs egid egroup ' +
    'elapsed etime etimes euid euser f fgid fgroup fname fuid fuser gid group label lstart lwp maj_flt majflt min_flt ' +
    'minflt ni nice nlwp numa nwchan oom pcpu pgid pgrp pid pmem policy ppid pri prio psr pss rgid rgroup rss rssize rsz ' +
    'rtprio ruid ruser s sched sess session sgi_p sgid sgroup sid sig size slice spid stackp start start_time stat state ' +
    'stime suid suser sz tgid thcount tid time times tname tpgid trs tt tty ucmd ucomm uid uname unit user uss uunit vsize ' +
    'vsz wchan'
  ).split(' '),
);

/** `pid`, `pid=` (no heading), `cmd:60` (width). */
const column: ValueType = (text) => {
  const [, name = ''] = /^([a-z_%]+)(?::\d{1,3})?=?$/u.exec(text.toLowerCase()) ?? [];
  return columns.has(name) ? text : undefined;
};
const sortKey: ValueType = (text, policy) => column(text.replace(/^[+-]/u, ''), policy);
const names = list(matching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}$/u));
const terminals = list(matching(/^(?:pts\/\d{1,4}|tty[A-Za-z]{0,3}\d{0,3}|console)$/u));
/** ps reads columns between spaces like columns between commas: `-eo "pid ppid cmd"`. */
const format: ValueType = (text, policy) => list(column)(text.trim().replace(/[ ,]+/gu, ','), policy);
const pids = list(integer(1, 4_194_304));

/**
 * BSD style: `aux`, `auxf`, `axo pid,cmd`. The letter `e` is left out on purpose: it shows the environment of processes,
 * where passwords are. With a dash it is another option (all processes) and stays.
 */
const bsdLetters = /^[acfhjlmnrsTuvwxLHSXZ]+$/u;
const operand: ValueType = (text, policy) =>
  (text.length <= 12 && bsdLetters.test(text.replace(/o$/u, ''))) || list(column)(text, policy) !== undefined
    ? text
    : undefined;

/** `-aux` is BSD's `aux` with a dash that ps forgives with a warning; written without it, nothing can be read twice. */
function withoutForgivenDash(words: readonly Word[]): readonly Word[] {
  return words.map((word) =>
    !word.quoted && /^-[auwfl]*x[auwfl]*$/u.test(word.text)
      ? { text: word.text.slice(1), quoted: false }
      : word,
  );
}

export const ps: Grammar = {
  binary: 'ps',
  usage:
    'ps aux | ps -ef | ps -eo COLUMNS [--sort=KEY] [-p PIDS] [-u USERS] [-C NAMES]; never "e" without a dash',
  rewrite: withoutForgivenDash,
  flags: [
    ...switches('-e', '-A', '-a', '-d', '-f', '-F', '-l', '-L', '-T', '-H', '-j', '-y', '-c', '-M', '-m'),
    ...switches('-N', '-P', '-S', '-Z', '--context', '--cumulative', '--deselect'),
    ...switches('--forest', '--no-headers', '--headers'),
    { names: ['--no-heading', '--no-headings'], emit: () => ['--no-headers'] },
    { names: ['-w'], times: 2 },
    { names: ['-o', '--format'], value: format, times: 5 },
    // Long forms with `=`: a value that ps cannot find is never read again as BSD letters.
    { names: ['-p', '-q', '--pid'], value: pids, emit: (value) => [`--pid=${value ?? ''}`], times: 3 },
    { names: ['--ppid'], value: pids, emit: (value) => [`--ppid=${value ?? ''}`] },
    { names: ['-u', '--user'], value: names, emit: (value) => [`--user=${value ?? ''}`] },
    { names: ['-U', '--User'], value: names, emit: (value) => [`--User=${value ?? ''}`] },
    { names: ['-C'], value: names },
    { names: ['-g', '--group'], value: names, emit: (value) => [`--group=${value ?? ''}`] },
    { names: ['-G', '--Group'], value: names, emit: (value) => [`--Group=${value ?? ''}`] },
    { names: ['-s', '--sid'], value: pids, emit: (value) => [`--sid=${value ?? ''}`] },
    { names: ['-t', '--tty'], value: terminals, emit: (value) => [`--tty=${value ?? ''}`] },
    { names: ['--sort'], value: list(sortKey), emit: (value) => [`--sort=${value ?? ''}`] },
    {
      names: ['--cols', '--columns', '--width'],
      value: integer(20, 1000),
      emit: (value) => [`--cols=${value ?? ''}`],
    },
  ],
  // Format options that ps refuses together; older ones then read everything again in BSD style.
  conflicts: ['-f', '-F', '-l', '-j', '-M', '-P', '-Z', '--context'].map((name) => ['-o', name] as const),
  operands: { type: operand, min: 0, max: 2, are: 'BSD options without "e", or columns after "o"' },
  whole: ([letters, format], given) => {
    if (letters === undefined) return undefined;
    if (!bsdLetters.test(letters.replace(/o$/u, ''))) return `"${letters}" is not a set of BSD options.`;
    if (given.has('-C') || given.has('-o')) return 'BSD options do not go with -C or -o.';
    const takesFormat = letters.endsWith('o');
    if (takesFormat !== (format !== undefined)) return 'columns go after BSD options that end in "o".';
    return undefined;
  },
};
