import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkUrl } from '../../src/safety/urls/check-url.ts';
import { htmlToText } from '../../src/safety/urls/html-to-text.ts';
import { isPublicAddress } from '../../src/safety/urls/public-address.ts';
import { cpuClock } from '../support/cpu-clock.ts';
import { fuzzRuns } from './runs.ts';

const allow = ['docs.python.org', 'stackoverflow.com'];
const fragment = fc.constantFrom(
  'https://',
  'http://',
  'https:',
  '//',
  '/',
  '\\',
  '@',
  ':',
  '?',
  '#',
  '.',
  '..',
  ' ',
  '\t',
  '\n',
  '\0',
  '%00',
  '%0d%0a',

  'docs.python.org',
  'stackoverflow.com',
  'evil.example',
  'python.org',
  'localhost',
  '127.0.0.1',
  '2130706433',
  '0x7f.1',

  '[::1]',
  '[::ffff:10.0.0.1]',
  ':443',
  ':22',
  'user:pw@',
  '%40',
  '%2f',
  '%5c',
  '%252f',
  '\uff0f',
  '\uff0e',
  '\u3002',
  '\u2044',
  '\u00ad',
  '\u200b',
  'xn--',
  'ｄ',
  'о',
  'x=',
  '&u=http://10.0.0.1/',
  'a',
  '-',
  '_',
  ';',
  '*',
);
const hostile = fc.oneof(
  fc.array(fragment, { maxLength: 10 }).map((parts) => parts.join('')),
  fc.array(fragment, { maxLength: 8 }).map((parts) => `https://${parts.join('')}`),
  fc.array(fragment, { maxLength: 6 }).map((parts) => `https://docs.python.org${parts.join('')}`),
  fc.string({ unit: 'binary', maxLength: 100 }),
);

test('what is allowed is https to an allowed host for every reader', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const cpuMs = cpuClock();
      const checked = checkUrl(text, allow);
      expect(cpuMs()).toBeLessThan(3_000);
      if (!checked.ok) return;
      const parsed = new URL(text);
      expect(parsed.protocol).toBe('https:');
      expect(parsed.username + parsed.password + parsed.port).toBe('');
      expect(allow.some((host) => parsed.hostname === host || parsed.hostname.endsWith(`.${host}`))).toBe(
        true,
      );
      expect(new URL(checked.url).hostname).toBe(checked.host);
      // A reader that takes the first or the last thing that looks like a host sees the same one.
      const [, naive = ''] = /^https:\/\/([^/?#\\]*)/iu.exec(text) ?? [];
      expect(naive.toLowerCase()).toBe(checked.host);
    }),
    { numRuns: fuzzRuns * 5 },
  );
});

test('no address that is written in two notations is public in one and private in the other', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0] = address.split('.').map(Number);
      const inner =
        a === 0 ||
        a === 10 ||
        a === 127 ||
        a >= 224 ||
        (a === 172 && b >= 16 && b < 32) ||
        (a === 192 && b === 168);
      if (inner) expect(isPublicAddress(address)).toBe(false);
      expect(isPublicAddress(`::ffff:${address}`)).toBe(false);
      expect(isPublicAddress(`64:ff9b::${address}`)).toBe(false);
    }),
    { numRuns: fuzzRuns },
  );
});

test('no HTML hangs the reader or lets a script through', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '</',
    '/>',
    '<!--',
    '-->',
    '<script>',
    '</script>',
    '<style>',
    '<div hidden>',
    '</div>',
    '<p>',
    '<br/>',

    '"',
    "'",
    '=',
    'x',
    ' ',
    '&lt;',
    '&#x41;',
    '&',
    ';',
    '<svg',
    '<title>',
    '</title>',
    '<textarea>',
    '\n',
    '\u0130',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
      const cpuMs = cpuClock();
      htmlToText(pieces.join(''));
      expect(htmlToText(`a<script>SECRET</script>${pieces.join('')}`)).not.toContain('SECRET');
      expect(cpuMs()).toBeLessThan(3_000);
    }),
    { numRuns: fuzzRuns },
  );
});
