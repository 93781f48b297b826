import { describe, expect, it } from 'vitest';
import { logEnd } from '../../../src/runbooks/log/log-end.ts';
import { repeatedLine } from '../../../src/runbooks/log/repeated-line.ts';

const at = (second: number): string => `2026-11-22T10:00:${String(second).padStart(2, '0')}Z`;
const endOf = (lines: readonly string[], looping = false) => {
  const { state, kind } = logEnd(lines.join('\n'), looping);
  return kind === '' ? state : `${state} ${kind}`;
};

describe('how a log ends', () => {
  it.each<[string, readonly string[], string]>([
    ['nothing', [], 'empty'],
    ['lines that call themselves calm', ['INFO a', 'INFO b', 'INFO a'], 'ordinary'],
    [
      'JSON lines that call themselves calm',
      ['{"level":"info","msg":"a"}', '{"level":30,"msg":"b"}', '{"level":"info","msg":"a"}'],
      'ordinary',
    ],
    [
      'a calm line of a kind that never came before',
      ['INFO a', 'INFO a', 'INFO der Mond ist weg'],
      'unclear',
    ],
    [
      'a version and what follows it, again and again',
      Array.from({ length: 4 }, (_, n) => ['Gateway v2.3', `workers: ${n}`]).flat(),
      'unclear',
    ],
    [
      'an error of a job, in the middle of the work',
      ['INFO a', 'INFO a', 'ERROR job 4: no such file or directory: x.pdf'],
      'unclear',
    ],
    [
      'an error of a runtime, in the middle of the work',
      ['INFO a', 'INFO a', 'Error: connect ECONNREFUSED', '    at TCP.connect (node:net:9:1)'],
      'reason dependency',
    ],
    [
      'what went wrong while it stopped as it was told',
      ['INFO a', 'INFO received SIGTERM, shutting down', 'ERROR relay: connection reset by peer'],
      'told_to_stop',
    ],
    ['a signal that is no order', ['INFO a', 'caught signal 11 (SIGSEGV)'], 'reason segfault'],
    [
      'the source that threw, which speaks of another error',
      ['/srv/gw.js:3', 'if (e.code === "ENOENT") retry(e.cause.id);', '    ^', '', 'TypeError: e is odd'],
      'reason unhandled',
    ],
    [
      'a line of the source that Python shows',
      [
        'Traceback (most recent call last):',
        '  File "gw.py", line 3, in <module>',
        '    raise ENOENT',
        'moon.Error: low',
      ],
      'reason unhandled',
    ],
    ['what somebody asked for', ['INFO a', '10.0.0.7 "GET /help connection-refused" 200'], 'unclear'],
    [
      'an error whose next line says more',
      ["thread 'main' panicked at src/main.rs:12:10:", 'called `unwrap()` on a `None` value'],
      'reason unhandled',
    ],
    [
      'lines of a kind that came before',
      ['GET /1 200', 'GET /2 200', 'GET /3 200', 'GET /4 200', 'GET /5 200'],
      'ordinary',
    ],
    ['a line of its own', ['GET /1 200', 'GET /2 200', 'the moon'], 'unclear'],
    ['an error that nobody knows', ['INFO a', 'ERROR the moon is low'], 'unclear'],
    [
      'a JSON error',
      ['{"level":"info","msg":"a"}', '{"level":"error","msg":"listen EADDRINUSE :80"}'],
      'reason port_in_use',
    ],
    ['a fatal klog line', ['I1122 10:00:00.1 a', 'F1122 10:00:01.2 no such device'], 'reason disk_error'],
    [
      'what follows from what',
      [
        'Exception in thread "main" java.lang.RuntimeException: broken',
        '\tat a.B.c(B.java:3)',
        'Caused by: java.io.FileNotFoundException: /etc/a.yml (No such file or directory)',
        '\tat a.B.d(B.java:9)',
        '\t... 3 more',
      ],
      'reason missing_file',
    ],
    [
      'a reason and how it is called',
      ["gw: unrecognized option '--x'", 'Usage: gw [-c file]', '  -c file'],
      'reason option',
    ],
    ['a reason and a farewell', ['FATAL licence expired', 'INFO shutting down'], 'reason licence'],
    [
      'good news in the words of bad',
      ['INFO checked 9 files: 0 errors', 'INFO checked 7 files: 0 errors'],
      'ordinary',
    ],
    [
      'a refusal of long ago',
      ['ERROR connect: connection refused', 'INFO a', 'INFO b', 'INFO a'],
      'ordinary',
    ],
    [
      'a refusal it went on after before',
      ['ERROR connect: connection refused', 'GET /1 200', 'GET /2 200', 'ERROR connect: connection refused'],
      'unclear',
    ],
    ['a client that went away', ['INFO connection reset by peer, client 10.0.0.7'], 'unclear'],
  ])('%s', (_name, lines, expected) => {
    expect(endOf(lines)).toBe(expected);
  });

  it.each<[string, readonly string[], boolean]>([
    ['in the middle of its work', ['INFO gw starts', 'INFO a 1', 'INFO a 2', 'Segmentation fault'], true],
    ['before it had done any', ['INFO gw starts', 'INFO a 1', 'INFO b', 'Segmentation fault'], false],
    ['at the next start', ['INFO a 1', 'INFO a 2', 'INFO gw starts', 'Segmentation fault'], false],
    [
      'again and again',
      Array.from({ length: 3 }, () => ['Gw v2.3', 'a 1', 'a 2', 'Segmentation fault']).flat(),
      false,
    ],
  ])('a crash %s: whether one more start may do', (_name, lines, restart) => {
    expect(logEnd(lines.join('\n'), false).restart).toBe(restart);
  });

  it('quotes the line as it stands there, and shortens it for a headline only', () => {
    const line = `FATAL cannot open spool: ${'x'.repeat(300)}`;
    const end = logEnd(`INFO a\n  ${line}`, false);
    expect(end.line).toBe(line);
    expect(Array.from(end.shown)).toHaveLength(160);
  });

  it('sees start after start in the log itself, unless the runs lie far apart', () => {
    const run = (second: number) => [`${at(second)} INFO gw starts`, `${at(second)} ERROR the moon is low`];
    expect(logEnd([...run(1), ...run(2), ...run(3)].join('\n'), false).looping).toBe(true);
    const days = [1, 2, 3].map((day) => `2026-11-0${day}T10:00:00Z INFO gw starts\nthe moon is low`);
    expect(logEnd(days.join('\n'), false).looping).toBe(false);
    const jobs = [1, 2, 3].flatMap((n) => [`${at(n)} INFO job started`, `${at(n)} INFO job worked`]);
    expect(logEnd(jobs.join('\n'), false).looping).toBe(false);
  });
});

describe('the line that a log repeats', () => {
  it('is found whatever its times and numbers are, and quoted as its newest', () => {
    const lines = Array.from({ length: 9 }, (_, n) => `${at(n)} ERROR mail 47${n} refused`);
    expect(repeatedLine(['INFO a', ...lines].join('\n'))).toMatchObject({
      line: `${at(8)} ERROR mail 478 refused`,
      count: 9,
      of: 10,
      percent: 90,
    });
  });
  it('is none in an empty log', () => {
    expect(repeatedLine('\n')).toMatchObject({ line: '', percent: 0 });
  });
});

describe('a line of any length', () => {
  // Before, one line of 4,000 of these took 30 seconds, and held everything else up.
  it.each(['-', '=', 'a-', 'a.'])('of "%s" is judged, for it is only judged in part', (unit) => {
    const lines = Array.from({ length: 5 }, () => `${unit.repeat(100_000)}!`);
    expect(endOf(lines)).toBe('unclear');
  });

  it('is not called ordinary by its beginning', () => {
    const line = `INFO ${'one order after the other '.repeat(200)}`;
    expect(endOf([line, line, line, line])).toBe('unclear');
    expect(endOf(Array.from({ length: 4 }, () => line.slice(0, 1_000)))).toBe('ordinary');
  });

  it('states its reason at its beginning', () => {
    expect(endOf([`FATAL: no space left on device ${'x'.repeat(10_000)}`])).toBe('reason disk_full');
  });
});
