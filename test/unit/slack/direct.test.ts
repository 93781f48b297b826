import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { redact } from '../../../src/safety/screen/redact.ts';
import { readDirect } from '../../../src/slack/inbound/direct/read-direct.ts';
import { plainMarkdown } from '../../../src/slack/outbound/answers/plain-markdown.ts';
import { settledLength } from '../../../src/slack/outbound/answers/settled.ts';

describe('what of an answer under way may be shown for good', () => {
  it.each([
    ['', ''],
    ['It is pid', ''],
    ['It is pid 4711.', ''],
    ['It is pid 4711. It has', 'It is pid 4711. '],
    ['It is:\n- pid 4711', 'It is:\n'],
    ['Version 15.4 is old and', ''],
    ['Here: -----BEGIN PRIVATE KEY-----\nabc\ndef\n', 'Here: '],
  ])('of %j is %j', (text, settled) => {
    expect(text.slice(0, settledLength(text))).toBe(settled);
  });

  // Obvious fakes, put together here so that no scanner finds one in this file.
  const secrets = [
    ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_'),
    `AKIA${'Q3EGRTV5WXYZ2345'}`,
    ['postgres://app:', 'hunter2-of-the-shop', '@db.example/shop'].join(''),
    ['-----BEGIN PRIVATE ', 'KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----'].join(
      '',
    ),
    ['password: ', 'corr3ct-h0rse-b4ttery'].join(''),
  ];

  it.each(secrets)('never holds more of a secret than the whole text shows of it: %#', (secret) => {
    const text = `It logs in. With ${secret} it says, and then it waits.\nThat is all. Really.`;
    const whole = redact(text);
    for (let length = 1; length <= text.length; length += 1) {
      const shown = redact(text.slice(0, length));
      expect(whole.startsWith(shown.slice(0, settledLength(shown)))).toBe(true);
    }
  });
});

describe('words of a model as markdown', () => {
  it.each([
    ['<!channel> and <@U123>', '&lt;!channel&gt; and &lt;@U123&gt;'],
    ['see https://a.example/?x=<1> now', 'see `https://a.example/?x=<1>` now'],
    ['`https://a.example`', 'ʼ`https://a.exampleʼ`'],
    ['**bold** and a - list', '**bold** and a - list'],
  ])('%j becomes %j', (text, markdown) => expect(plainMarkdown(text)).toBe(markdown));

  it('neither link nor ring anybody, whatever they say', () => {
    const nasty = fc.array(
      fc.constantFrom(
        '[a]',
        '(https://e.example)',
        '![x]',
        '<',
        '>',
        '!channel',
        '@U1',
        '`',
        ' ',
        '\n',
        ':',
        '[a]: b',
        '](',
        'w',
      ),
    );
    fc.assert(
      fc.property(nasty, (parts) => {
        const said = plainMarkdown(parts.join(''));
        const outside = said.replace(/`[^`]*`/g, '');
        expect(outside).not.toMatch(/\]\(|\]\[|\]:|[<>]|:\/\//);
      }),
    );
  });

  it('is the same in pieces that end with a space as in one', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z`[\]()<&:/.]{0,8}$/)), (parts) => {
        const text = parts.map((part) => `${part} `).join('');
        expect(parts.map((part) => plainMarkdown(`${part} `)).join('')).toBe(plainMarkdown(text));
      }),
    );
  });
});

describe('a direct message', () => {
  it.each([
    ['', false, { kind: 'help' }],
    ['Hi!', true, { kind: 'help' }],
    ['blub', false, { kind: 'help' }],
    ['Thank you!', true, { kind: 'thanks' }],
    ['thanks so much, great work', false, { kind: 'thanks' }],
    ['Good morning Sentry', false, { kind: 'help' }],
    ['good morning, checkout is down', false, { kind: 'problem', text: 'good morning, checkout is down' }],
    ['open incidents?', false, { kind: 'command', text: 'incidents open' }],
    ['list incidents', false, { kind: 'command', text: 'incidents' }],
    ['ack', true, { kind: 'command', text: 'ack INC-7' }],
    ['ack inc 9', true, { kind: 'command', text: 'ack INC-9' }],
    ['sentry mutes', false, { kind: 'command', text: 'mutes' }],
    ['stop INC-9', true, { kind: 'command', text: 'stop INC-9' }],
    ['stop', true, { kind: 'elsewhere', where: 'switch' }],
    ['stop it', false, { kind: 'elsewhere', where: 'switch' }],
    ['stop the payroll job', false, { kind: 'elsewhere', where: 'switch' }],
    ['memory is full on shop-db', false, { kind: 'problem', text: 'memory is full on shop-db' }],
    ['status?', false, { kind: 'command', text: 'status' }],
    ['/sentry cost INC-3', false, { kind: 'command', text: 'cost INC-3' }],
    ['stop everything', true, { kind: 'command', text: 'stop everything' }],
    ['approve it', false, { kind: 'elsewhere', where: 'switch' }],
    ['Hint: the release', false, { kind: 'elsewhere', where: 'hint' }],
    ['remember: the release', false, { kind: 'elsewhere', where: 'remember' }],
    ['why', false, { kind: 'question', named: null, bare: true }],
    ['why inc-7?', false, { kind: 'question', named: 'INC-7', bare: true }],
    ['INC-7', false, { kind: 'question', named: 'INC-7', bare: true }],
    ['who approved INC-7?', false, { kind: 'question', named: 'INC-7', bare: false }],
    ['is it over', false, { kind: 'question', named: null, bare: false }],
    ['and since then', true, { kind: 'question', named: null, bare: false }],
    ['checkout is slow', false, { kind: 'problem', text: 'checkout is slow' }],
    ['investigate the disk of shop-db', true, { kind: 'problem', text: 'the disk of shop-db' }],
  ] as const)('%j (in a conversation: %s) is read as %j', (text, inConversation, wish) => {
    expect(readDirect(text, inConversation ? asIncidentId('INC-7') : null)).toEqual(wish);
  });
});
