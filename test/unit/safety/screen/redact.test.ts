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
