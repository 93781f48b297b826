import type { Grammar } from '../grammar.ts';
import { integer, list, matching, oneOf } from '../values.ts';
import { switches } from './flags.ts';

const verbs: readonly string[] = [
  'status',
  'is-active',
  'is-failed',
  'is-enabled',
  'list-units',
  'list-timers',
];

const unitTypes = [
  'service',
  'socket',
  'timer',
  'mount',
  'automount',
  'target',
  'path',
  'slice',
  'scope',
  'swap',
  'device',
];

/**
 * A unit by name, by pid, or by a quoted pattern such as `nginx*` (systemctl matches it against loaded units; unquoted it is a
 * shell's). No paths. systemd.unit(5): at most 255 characters.
 */
const unit = matching(/^[A-Za-z0-9_@:][A-Za-z0-9_.@:?*-]{0,254}$/u);

/** What shows no settings: `show` and `cat` print environments, where passwords are. `-H`, `-M`, `--root`, `--image` reach other systems, `--user` other managers: left out. */
export const systemctl: Grammar = {
  binary: 'systemctl',
  usage:
    'systemctl status|is-active|is-failed|is-enabled|list-units|list-timers [unit …] [-l] [-a] [-n 0…200] [-o format] [-t type] [--state=…] [--no-pager]',
  enforced: [{ words: ['--no-pager'] }, { unless: '-n', words: ['-n', '20'] }],
  flags: [
    ...switches('-l', '--full', '-a', '--all', '-q', '--quiet'),
    ...switches('--failed', '--plain', '--no-legend', '--with-dependencies', '--no-ask-password'),
    {
      names: ['--legend'],
      value: oneOf('no', 'yes', 'false', 'true'),
      emit: (value) => [`--legend=${value ?? ''}`],
    },
    { names: ['--no-pager'], emit: () => [] },
    { names: ['-n', '--lines'], value: integer(0, 200) },
    {
      names: ['-o', '--output'],
      value: matching(
        /^(?:short(?:-(?:full|iso|iso-precise|precise|monotonic|delta|unix))?|with-unit|verbose|export|json(?:-pretty|-seq|-sse)?|cat)$/u,
      ),
    },
    { names: ['-t', '--type'], value: list(oneOf(...unitTypes)) },
    { names: ['--state'], value: list(matching(/^[a-z-]{2,20}$/u)) },
  ],
  operands: { type: unit, min: 0, max: 11, are: '"status" and then unit names' },
  // Without a verb it lists units.
  whole: ([verb]) =>
    verb === undefined || verbs.includes(verb)
      ? undefined
      : `of systemctl only ${verbs.join(', ')} are diagnostics; the rest changes things or shows settings.`,
};
