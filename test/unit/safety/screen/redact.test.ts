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
  ['a password that sudo reads', 'echo L0calAdmin! | sudo -S systemctl restart app', 'L0calAdmin'],
  ['a password for PuTTY', 'pscp -pw Cactus=Flower2 a host:b', 'Cactus'],
  ['a password that is said to be for something', 'Password for deploy: Basalt#Column6', 'Basalt'],
  ['a password next to a placeholder', 'password=[redacted:jwt]tail9secret', 'tail9secret'],
])('hides %s', (_, text, secret) => {
  const shown = redact(text);
  expect(shown).not.toContain(secret);
  expect(shown).toContain('[redacted:');
  expect(redact(shown)).toBe(shown);
});

test.each([
  [
    'a token in place of the user',
    'https://{h20}@git.example.com/a',
    'https://[redacted:url-token]@git.example.com/a',
  ],
  [
    'a token and a fixed password',
    'https://{h20}:x-oauth-basic@git.example.com/a',
    'https://[redacted:url-token]:[redacted:url-credentials]@git.example.com/a',
  ],
  ['a key in the user’s place', "curl -u '{h20}:' https://h/", "curl -u '[redacted:http-user]:' https://h/"],
])('%s has one whole placeholder, which is not taken for another secret', (_, text, shown) => {
  expect(redact(text.replace('{h20}', '3f9a1c77e2b84d06a5d1'))).toBe(shown);
});

test('what only looks like a placeholder hides nothing', () => {
  const key = synthetic('AKIA{U16}');
  for (const text of [`[redacted:${key}]`, `://[redacted:${key}]@h`, `[redacted:jwt#${key}]`])
    expect(redact(text)).not.toContain(key);
  expect(redact('https://[redacted:url-token]:hunter2pw@h/')).not.toContain('hunter2pw');
});

// A quarter of what generators and people put into a password are signs that end a value somewhere else.
const notations: readonly (readonly [name: string, write: (secret: string) => string, not: string])[] = [
  ['a variable', (secret) => `DB_PASSWORD=${secret}`, ''],
  ['a variable in quotes', (secret) => `export DB_PASSWORD='${secret}'`, ''],
  ['YAML', (secret) => `db:\n  password: ${secret}\n  user: x`, ''],
  ['JSON', (secret) => JSON.stringify({ user: 'a', password: secret }), ''],
  ['properties', (secret) => `spring.datasource.password=${secret}`, ''],
  ['an element', (secret) => `<password>${secret.replaceAll('&', '&amp;')}</password>`, '<>'],
  ['a connection string', (secret) => `Server=a;User Id=b;Password=${secret};Database=x`, ';'],
];
const signs = '!#$%&()*+,-./:;<=>?@[]^_{|}~';

test.each(notations)('hides a password in %s to its end, whatever signs are in it', (_, write, not) => {
  for (const sign of signs) {
    if (not.includes(sign)) continue;
    for (const [before, after] of [
      ['Qu4k', 'er9Vm'],
      ['tr', '7Gkpw2x'],
    ] as const) {
      const shown = redact(write(`${before}${sign}${after}`));
      expect(shown, sign).toContain('[redacted:');
      expect(shown, sign).not.toContain(after);
    }
  }
});

test.each([
  'password: Promise<string>;',
  'password: hash(input),',
  'password=&user=x',
  'password: %{password},',
  '<li>Password: forgotten</li>',
  'auth: basic,digest',
])('takes what ends a line for no password where it is none: %s', (text) => {
  expect(redact(text)).toBe(text);
});

describe('what a reader does not see hides nothing', () => {
  const token = synthetic('ghp_{w36}');

  test.each([
    [
      'a coloured name and value',
      '\u001b[36mpassword\u001b[0m=\u001b[35mHarbour-Seal9\u001b[0m',
      'Harbour-Seal9',
    ],
    [
      'colours as JSON writes them',
      '\\u001b[36mpassword\\u001b[0m=\\u001b[35mHarbour-Seal9\\u001b[0m',
      'Harbour-Seal9',
    ],
    [
      'colours as rsyslog writes them',
      '#033[36mpassword#033[0m=#033[35mHarbour-Seal9#033[0m',
      'Harbour-Seal9',
    ],
    ['a colour inside a token', `${token.slice(0, 4)}\u001b[1m${token.slice(4)}`, token.slice(4)],
    ['a character without a width', `${token.slice(0, 12)}\u200b${token.slice(12)}`, token.slice(12)],
    [
      'a link of a terminal',
      `\u001b]8;;https://x.example/?access_token=${token}\u001b\\page\u001b]8;;\u001b\\`,
      token.slice(4),
    ],
  ])('%s', (_, text, secret) => {
    const shown = redact(text);
    expect(shown).not.toContain(secret);
    expect(redact(shown)).toBe(shown);
  });

  test('and its copy elsewhere is found without it', () => {
    const shown = redact('\u001b[1mpassword\u001b[0m=Harbour\u001b[2m-Seal9, then login Harbour-Seal9');
    expect(shown).not.toContain('Seal9');
  });

  test('and stays where there is no secret', () => {
    const text =
      '\u001b[32mINFO\u001b[0m 12 orders in \u001b]8;;https://x.example\u001b\\a link\u001b]8;;\u001b\\';
    expect(redact(text)).toBe(text);
  });
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

test('a short copy behind a colour or an escaped line end is hidden, and the `//` of an address stays [S-secrets]', () => {
  expect(redact('password: "abc4x5yz"\n\u001b[31mabc4x5yz\u001b[0m \\nabc4x5yz')).not.toContain('abc4x5yz');
  expect(redact(`https://ghp_${'aB3dE5gH7j'.repeat(4)}@github.com/a/b`)).toContain('https://[redacted:');
});
