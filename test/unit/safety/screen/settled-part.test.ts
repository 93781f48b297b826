import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact } from '../../../../src/safety/screen/redact.ts';
import { settledPart } from '../../../../src/safety/screen/settled-part.ts';
import { findSecrets } from '../../../../src/safety/secrets/find-secrets.ts';
import { ruleCases } from './rule-cases.ts';
import { synthetic } from './synthetic.ts';

/** So many characters of a secret in a row are a part of it. */
const PART = 10;

/** Parts of the secrets in a text that do not stand in the shape it was made from. */
function partsOf(text: string, shape: string): readonly string[] {
  return findSecrets(text).flatMap(({ start, end }) =>
    Array.from({ length: Math.max(0, end - start - PART + 1) }, (_, n) =>
      text.slice(start + n, start + n + PART),
    ).filter((part) => !shape.includes(part)),
  );
}

describe('while a text is being written', () => {
  const shapes = Object.entries(ruleCases).flatMap(([rule, { finds }]) =>
    finds.map((shape) => [rule, shape] as const),
  );
  test.each(shapes)('no part of a secret stands there: %s, %j', (_, shape) => {
    const text = `I looked at the log, and it's there: ${synthetic(shape)} is what the application sent. Then it ended.`;
    const parts = partsOf(text, shape);
    for (let length = 1; length <= text.length; length++) {
      const shown = redact(settledPart(text.slice(0, length)));
      const leaked = parts.find((part) => shown.includes(part));
      expect(leaked, `of the first ${length} characters`).toBe(undefined);
    }
  });

  test.each([
    ['postgres://shop:s3cr3tPassw0rd@db.internal:5432/shop is where', 's3cr3t'],
    ['its password="correct horse battery staple" does', 'correct horse'],
  ])('%s', (text, part) => {
    for (let length = 1; length <= text.length; length++)
      expect(redact(settledPart(text.slice(0, length)))).not.toContain(part);
  });

  test('it is a beginning of the text, and no more is kept back than what is not whole', () => {
    const word = fc.constantFrom(
      'pid',
      '4711',
      "it's",
      'don’t',
      '"orders"',
      '`x`',
      "'a",
      '\n',
      '-----END X-----',
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const text = words.join(' ');
        for (let length = 0; length <= text.length; length++)
          expect(text.startsWith(settledPart(text.slice(0, length)))).toBe(true);
      }),
    );
    expect(settledPart('Eight sessions wait. It’s pid 47')).toBe('Eight sessions wait. It’s pid ');
    expect(settledPart("It's pid 4711 that doesn't go on ")).toBe("It's pid 4711 that doesn't go on ");
  });
});
