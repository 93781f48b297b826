import { expect, test } from 'vitest';
import { outwardJson } from '../../../src/safety/screen/boundary.ts';
import { sha256 } from '../../../src/safety/sha256.ts';

// A card whose id ended in “pw” had no Approve that worked: what its button says was taken for a password.
test.each(['pw', 'pwd', 'pass', 'passwd', 'key', 'apikey', 'token', 'secret', 'auth', 'cred', 'pw1', 'key9'])(
  'what a button says of a plan is no secret, though its id ends in “%s”',
  (end) => {
    for (const prefix of ['act', 'tc', 'den']) {
      const id = `${prefix}_${'0'.repeat(12 - end.length)}${end}`;
      const plan = `${id}:${sha256(id)}`;
      for (const value of [plan, `why:${plan}`, `INC-7:${plan}`, JSON.stringify({ plan, channel: 'C1' })])
        expect(outwardJson({ value })).toEqual({ value });
    }
  },
);

test('a secret after such an id is one', () => {
  expect(outwardJson({ value: 'act_0000000000pw:hunter2-Zq81kk' })).not.toEqual({
    value: 'act_0000000000pw:hunter2-Zq81kk',
  });
});
