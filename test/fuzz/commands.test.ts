import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCommand } from '../../src/safety/commands/parse-command.ts';
import { defaultCommandPolicy } from '../../src/safety/commands/policy.ts';
import { tokenize } from '../../src/safety/commands/tokenize.ts';
import { cpuClock } from '../support/cpu-clock.ts';
import { fuzzRuns } from './runs.ts';

const binaries = ['ps', 'netstat', 'ss', 'curl', 'tail', 'df', 'free', 'uptime', 'systemctl', 'ping'];
const word = fc.constantFrom(
  '-a',
  '-e',
  '-f',
  '-o',
  '-n',
  '-c',
  '5',
  '-5',
  '-K',
  '-X',
  'GET',
  'POST',
  '-H',
  '-w',
  '-I',
  '-s',
  '-t',
  '-u',
  '-p',

  'aux',
  'auxe',
  'e',
  '-ef',
  '-eo',
  'pid,cmd',
  'status',
  'stop',
  'nginx',
  '--no-pager',
  '-l',
  '-F',
  '-T',
  '-d',
  '-O',

  '/var/log/syslog',
  '/etc/passwd',
  '/var/log/../x',
  '/dev/null',
  '/tmp/x',
  '-',
  '--',
  '@/etc/passwd',
  '-q',
  '-v',

  'http://localhost:9/x',
  'localhost',
  'http://evil.example/',
  'file:///etc/passwd',
  'http://localhost@evil.example',

  'http://localhost:2375/',
  "'http://localhost/?a=1&b=2'",
  '"%{http_code}"',
  '"%output{/tmp/x}"',
  '--max-time=5',

  '10.0.0.1',
  'db',
  '0x7f.1',
  ';',
  '|',
  '&&',
  '$(id)',
  '`id`',
  '>',
  '\n',
  '\t',
  "'",
  '"',
  "''",
  '\\',
  '*',
  '~',
  '#',
  '%0a',
);
const hostile = fc.oneof(
  fc
    .tuple(fc.constantFrom(...binaries), fc.array(word, { maxLength: 6 }), fc.constantFrom(' ', '  ', ''))
    .map(([binary, words, gap]) => `${binary} ${words.join(gap)}`),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc
    .tuple(fc.constantFrom(...binaries), fc.string({ maxLength: 40 }))
    .map(([binary, rest]) => `${binary} ${rest}`),
);

test('nothing that is allowed reaches another host, file or program', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const cpuMs = cpuClock();
      const decision = parseCommand(text, defaultCommandPolicy);
      expect(cpuMs()).toBeLessThan(3_000);
      if (!decision.allowed) {
        expect(decision.allowedInstead).not.toBe('');
        return;
      }
      const { argv, binary } = decision;
      expect(binaries).toContain(binary);
      expect(argv[0]).toBe(binary);
      expect(argv.join('\n')).not.toMatch(/[^ -~\n]/u);
      if (binary === 'curl') {
        expect(argv[1]).toBe('-q');
        const url = new URL(argv.at(-1) ?? '');
        expect(['localhost', '127.0.0.1', '[::1]']).toContain(url.hostname);
        expect(url.username + url.password).toBe('');
        expect(argv.join(' ')).not.toMatch(/ -[OKTdFbcunx] | @|%output|POST/u);
        for (const [at, argument] of argv.entries())
          if (argument === '-o') expect(argv[at + 1]).toBe('/dev/null');
      }
      if (binary === 'tail') {
        for (const at of decision.files)
          expect(argv[at]).toMatch(/^\/(?:var\/log|opt|srv|var\/opt|var\/lib|usr\/local)\//u);
        expect(argv.join(' ')).not.toMatch(/ -[fFs] |\.\./u);
      }
      if (binary === 'systemctl') {
        const [verb] = argv
          .slice(1)
          .filter((each, at) => !each.startsWith('-') && !/^-[not]$/u.test(argv[at] ?? ''));
        expect([
          undefined,
          'status',
          'is-active',
          'is-failed',
          'is-enabled',
          'list-units',
          'list-timers',
        ]).toContain(verb);
      }
      if (binary === 'ps')
        expect(
          argv.slice(1).filter((each) => /^[a-z]*e[a-z]*$/u.test(each) && /^[aefhjlmruvwx]+$/u.test(each)),
        ).toEqual([]);
    }),
    { numRuns: fuzzRuns * 5 },
  );
});

test('our words are the words of a real shell that has nothing to expand', () => {
  const piece = fc.constantFrom(
    'a',
    '-b',
    '--c=d',
    "'e f'",
    '"g h"',
    '--i="j k"',
    "--l='m'",
    'x?y=1',
    '/p/q',
    '"%{r}\\n"',
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
      const text = pieces.join(' ');
      const words = tokenize(text);
      expect('allowed' in words).toBe(false);
      if ('allowed' in words) return;
      const shell = execFileSync('/bin/bash', ['-f', '-c', `printf '%s\\0' ${text}`], {
        cwd: '/',
        encoding: 'utf8',
      });
      expect(words.map((each) => each.text)).toEqual(shell.split('\0').slice(0, -1));
    }),
    { numRuns: Math.min(30, fuzzRuns) },
  );
});
