import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainJson } from '../../../../src/safety/inputs/plain-json.ts';

test('what JSON carries comes back the same, and is nobody else’s', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const own = JSON.parse(JSON.stringify(value)) as unknown;
      // Through fast-check a field called __proto__ may come; it is refused, which another test shows.
      fc.pre(!JSON.stringify(own).includes('"__proto__"'));
      expect(plainJson(own)).toEqual({ ok: true, value: own });
    }),
  );
});

test('whatever it is given it answers, and never throws', () => {
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSparseArray: true,
        withNullPrototype: true,
      }),
      (value) => {
        const answer = plainJson(value);
        if (answer.ok) expect(JSON.parse(JSON.stringify(answer.value))).toEqual(answer.value);
        else expect(answer.code).toMatch(/^INPUT_(NOT_JSON|TOO_DEEP|TOO_LONG)$/);
      },
    ),
  );
});

test('the copy does not follow the original', () => {
  const original = { list: [{ how: 'gently' }] };
  const answer = plainJson(original);
  original.list[0] = { how: 'roughly' };
  expect(answer).toEqual({ ok: true, value: { list: [{ how: 'gently' }] } });
});

test('-0 becomes 0: no hash and no database knows another', () => {
  const answer = plainJson({ n: -0 });
  expect(answer.ok && Object.is((answer.value as { n: number }).n, 0)).toBe(true);
});

test('a class instance, a proxy that throws and a revoked one are refused', () => {
  class Sneaky {
    readonly how = 'a';
  }
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const value of [new Sneaky(), new Map(), Symbol('x'), () => 1, proxy])
    expect(plainJson({ value })).toMatchObject({ ok: false, code: 'INPUT_NOT_JSON' });
});
