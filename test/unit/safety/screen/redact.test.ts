import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact, redactJson } from '../../../../src/safety/screen/redact.ts';
import { ruleCases } from './rule-cases.ts';
import { synthetic } from './synthetic.ts';

const secrets = Object.values(ruleCases).flatMap(({ finds }) => finds.map(synthetic));

test.each([
  ['a database URL', 'postgres://shop:hunter2pass@db:5432/shop', 'hunter2pass'],
  ['a role statement', "ALTER ROLE app PASSWORD 'correct horse'", 'correct horse'],
  ['an AWS key', synthetic('key AKIA{U16} in use'), synthetic('key AKIA{U16} in use').slice(4, 24)],
  ['an assignment', 'password=supersecret1 host=db', 'supersecret1'],
  ['a quoted password with a comma', 'password: "one, two three"', 'two three'],
  ['a bearer header', 'Authorization: Bearer abcdefghijklmnop1234', 'abcdefghijklmnop1234'],
  ['a password next to a placeholder', 'password=[redacted:jwt]tail9secret', 'tail9secret'],
])('hides %s', (_, text, secret) => {
  const shown = redact(text);
  expect(shown).not.toContain(secret);
  expect(shown).toContain('[redacted:');
  expect(redact(shown)).toBe(shown);
});

test('leaves operations text alone', () => {
  const text =
    "pid 4711 (shop_app) holds AccessExclusiveLock on public.orders for 312 s: UPDATE orders SET state = 'paid' WHERE id = 7";
  expect(redact(text)).toBe(text);
});

describe('placeholders', () => {
  const one = synthetic('ghp_{w36}');
  const two = synthetic('ghp_{w36} ').trim();

  test('the same secret has the same one, another of its kind the next number', () => {
    expect(redact(`${one}, ${two}, ${one}`)).toBe(
      '[redacted:github-token], [redacted:github-token#2], [redacted:github-token]',
    );
  });

  test('a text that was redacted before keeps its numbers apart', () => {
    expect(redact(`[redacted:github-token#2] and ${one}`)).toBe(
      '[redacted:github-token#2] and [redacted:github-token#3]',
    );
  });

  test('are the same throughout one value', () => {
    expect(redactJson({ a: one, b: [`x ${two}`, one] })).toEqual({
      a: '[redacted:github-token]',
      b: ['x [redacted:github-token#2]', '[redacted:github-token]'],
    });
  });
});

test('reaches into every string of a value, also where only the key tells', () => {
  const shown = JSON.stringify(
    redactJson({
      rows: [{ query: "CREATE ROLE x PASSWORD 'swordfish99'" }],
      password: 'hunter2plain',
      note: 'hunter',
    }),
  );
  expect(shown).not.toContain('swordfish99');
  expect(shown).not.toContain('hunter2plain');
  expect(shown).toContain('"note":"hunter"');
});

describe('every copy of what is found is hidden', () => {
  const secret = 'Tr0ub4dor+3?x';
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test.each([
    ['behind it', `password="${secret}"\nlogin with ${secret} failed`],
    ['before it', `login with ${secret} failed\npassword="${secret}"`],
    ['percent-encoded', `password="${secret}" https://db/?a=${encodeURIComponent(secret)}&b=1`],
    ['decoded', `https://ops:${encodeURIComponent(secret)}@db/ and ${secret}`],
    ['in Base64', `password="${secret}" blob ${base64(secret)}`],
    ['in Base64 behind a user', `password="${secret}" blob ${base64(`ops:${secret}`)}`],
    ['in Base64 behind another user', `password="${secret}" blob ${base64(`o2:${secret}`)}`],
    [
      'in Base64 for addresses',
      `password="${secret}" blob ${Buffer.from(`x:${secret}`).toString('base64url')}`,
    ],
    ['escaped', `password='pass"w0rd9' {"note":"pass\\"w0rd9"}`],
  ])('%s [S-secrets]', (_, text) => {
    const shown = redact(text);
    for (const copy of [secret, encodeURIComponent(secret), 'w0rd9', base64(secret), base64(`ops:${secret}`)])
      expect(shown).not.toContain(copy);
    expect(shown).not.toMatch(/(?<=blob )(?!\[redacted:[\w-]+\]$)/);
    expect(redact(shown)).toBe(shown);
  });

  test('in every string of a value, also those before it [S-secrets]', () => {
    expect(redactJson({ log: [`tried ${secret} twice`], [secret]: 1, password: secret })).toEqual({
      log: ['tried [redacted:assigned-secret] twice'],
      '[redacted:assigned-secret]': 1,
      password: '[redacted:assigned-secret]',
    });
  });

  test.each([
    'postgres://postgres:postgres@postgres:5432/postgres',
    'password=orders UPDATE orders SET state = 1',
    `password="abc123" commit fabc1234`,
  ])('but a name that is a password stays a name: %s [S-secrets]', (text) => {
    const [, name = ''] = /(postgres|orders|fabc1234)/.exec(text) ?? [];
    expect(redact(text)).toContain(name);
    expect(redact(text).match(/\[redacted:/g)).toHaveLength(1);
  });
});

test('what names a value may stand in the field or the item beside it [S-secrets]', () => {
  const value = {
    env: [
      { name: 'DB_PASSWORD', value: 'swordfish' },
      { name: 'DB_HOST', value: 'shop-db' },
    ],
    args: ['--db-password', 'bluemonday', '--port', '5432'],
  };
  const shown = redactJson(value);
  expect(shown).toEqual({
    env: [
      { name: 'DB_PASSWORD', value: '[redacted:assigned-secret]' },
      { name: 'DB_HOST', value: 'shop-db' },
    ],
    args: ['--db-password', '[redacted:assigned-secret#2]', '--port', '5432'],
  });
  expect(redactJson(shown)).toEqual(shown);
});

test('redacting twice is redacting once, whatever secrets stand side by side', () => {
  const piece = fc.oneof(
    fc.constantFrom(...secrets),
    fc.constantFrom(
      ' ',
      '\n',
      '=',
      ': ',
      '"',
      "'",
      'password=',
      'token: ',
      '[redacted:jwt]',
      '[redacted:',
      ']',
      '@',
      '://',
      '-----',
    ),
    fc.string({ maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const shown = redact(pieces.join(''));
      expect(redact(shown)).toBe(shown);
    }),
    { numRuns: 1_000 },
  );
});

test('a secret never survives in any surroundings of ordinary characters', () => {
  const around = fc.string({
    unit: fc.constantFrom(' ', '\n', ',', '(', ')', 'ü', '\t', ';'),
    maxLength: 12,
  });
  fc.assert(
    fc.property(
      fc.constantFrom('ghp_{w36}', 'glpat-{w20}', 'xoxb-{d12}-{d12}-{w24}', 'npm_{w36}', 'AKIA{U16}'),
      around,
      around,
      (shape, before, after) => {
        expect(redact(`${before}${synthetic(shape)}${after}`)).not.toContain(synthetic(shape));
      },
    ),
  );
});
