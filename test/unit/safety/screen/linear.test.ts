import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findInjection } from '../../../../src/safety/injection/find-injection.ts';
import { redact } from '../../../../src/safety/screen/redact.ts';
import { redactPersonal } from '../../../../src/safety/screen/redact-personal.ts';
import { scan } from '../../../../src/safety/screen/scan.ts';
import { findSecrets } from '../../../../src/safety/secrets/find-secrets.ts';

/** CPU time of this process, ms: other work on the machine does not count. */
function cost(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** So little says nothing of how it grows: what is not linear takes minutes for a megabyte. */
const TOO_LITTLE_MS = 100;
/** Four times as much text costs four times as much where the work is linear, sixteen times where it is quadratic. */
const MOST_FOR_FOUR_TIMES = 10;

/** That the cost grows with the text and no faster, whatever the machine. */
function expectLinear(work: (text: string) => void, text: string): void {
  const whole = cost(() => work(text));
  if (whole < TOO_LITTLE_MS) return;
  const least = (part: string): number => Math.min(...[1, 2, 3].map(() => cost(() => work(part))));
  const quarter = least(text.slice(0, text.length / 4));
  const isAtOnce = whole < MOST_FOR_FOUR_TIMES * quarter;
  expect((isAtOnce ? whole : least(text)) / quarter).toBeLessThan(MOST_FOR_FOUR_TIMES);
}

const pieces = [
  'a',
  'A1b2',
  '0123456789abcdef',
  ' ',
  '\n',
  '\0',
  'é',
  '😀',
  '-----BEGIN',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\n',
  'eyJ',
  'eyJ.',
  'eyJaaaaaaaa.eyJ.',
  '://',
  '://a:b',
  'a@',
  'password=',
  'password: "',
  'twitter_key=',
  'key: ',
  'token',
  'secret ',
  'ghp_',
  'xoxb-',
  'AKIA',
  '[redacted:',
  '[redacted:x]',
  'curl -u a:bcd ',
  'Authorization: ',
  'authorization: basic ',
  'bearer ',
  'mysql -p',
  'redis-cli ',
  'a:b@tcp(',
  'a:5432:',
  'a:*:b:c:',
  'sqlplus ',
  'jdbc:oracle:thin:a/',
  'arn:aws:secret:',
  '{"time":',
  'sha256-',
  'Private-Lines: 1\n',
  'ZXlK',
  'eyJhdXRocyI6',
  'kind: Secret\n',
  'kind: Secret\ndata:\n  a: b\n',
  '---\n',
  '2026-01-01 00:00\n',
  '1.1.1.1 ',
  '::',
  'ab:',
];
const phrases = [
  'ignore ',
  'ignore all ',
  'ignore the previous ',
  'ignore all previous instructions ',
  'do not follow ',
  'your ',
  'you are now ',
  'what ',
  'show your ',
  'print everything ',
  '<!-- ',
  'system: ',
  'assistant:\n',
  '<|',
  'end of ',
  'send secrets ',
  '![a](https://a?',
  'curl -d ',
  'without ',
  'approve ',
  'skip the ',
  'aGVsbG8g',
  '%69',
  '&#105;',
  '\\u0069',
  '61 ',
  '01100001 ',
  '\u200b',
  'і',
  '忽略',
  'игнорируй ',
  'ignorier',
  'ignoriere alle ',
  'act as a ',
];

describe('a megabyte of one thing costs in proportion', () => {
  test.each([...pieces, ...phrases])('%j', (piece) => {
    const text = piece.repeat(Math.ceil(1e6 / piece.length)).slice(0, 1e6);
    expectLinear(findSecrets, text);
    expectLinear(redactPersonal, text);
  });

  test.each([...phrases, 'a ', 'A1b2', '://', 'eyJ', ' ', '\n'])('%j, searched for injection', (piece) => {
    const text = piece.repeat(Math.ceil(1e6 / piece.length)).slice(0, 1e6);
    expectLinear(findInjection, text);
  });
});

test('any mixture of them, repeated, costs in proportion', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces, ...phrases), { minLength: 1, maxLength: 5 }), (some) => {
      const piece = some.join('');
      const text = piece.repeat(Math.ceil(100_000 / piece.length));
      expectLinear(redact, text);
      expectLinear((part) => scan(part, { scope: 'user' }), text);
    }),
    { numRuns: 25 },
  );
}, 60_000);
