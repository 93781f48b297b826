import fc from 'fast-check';
import { expect, test } from 'vitest';
import { severityOf } from '../../../src/core/severity.ts';
import { identityOf, sameThing } from '../../../src/ingest/correlate.ts';
import { fingerprintOf } from '../../../src/sources/fingerprint.ts';

const label = fc.stringMatching(/^[a-z][a-z_]{0,12}$/);
const labels = fc.dictionary(label, fc.string(), { maxKeys: 8 });
const noise = fc.constantFrom(
  'severity',
  'prometheus_replica',
  'prometheus',
  'receiver',
  '__alert_rule_uid__',
  'Severity',
);

test('the order of labels does not matter', () => {
  fc.assert(
    fc.property(labels, fc.infiniteStream(fc.nat()), (map, order) => {
      const keyed = Object.entries(map).map((entry) => ({ entry, at: order.next().value as number }));
      const shuffled = Object.fromEntries(keyed.sort((a, b) => a.at - b.at).map(({ entry }) => entry));
      expect(fingerprintOf('x', shuffled)).toBe(fingerprintOf('x', map));
    }),
  );
});

test('noise labels do not matter', () => {
  fc.assert(
    fc.property(labels, noise, fc.string(), (map, key, value) => {
      expect(fingerprintOf('x', { ...map, [key]: value })).toBe(
        fingerprintOf('x', { ...map, [key]: 'other' }),
      );
    }),
  );
});

test('an identifying label, the name and the extra words matter', () => {
  fc.assert(
    fc.property(labels, fc.string(), fc.string(), (map, a, b) => {
      fc.pre(a !== b);
      expect(fingerprintOf('x', { ...map, instance: a })).not.toBe(
        fingerprintOf('x', { ...map, instance: b }),
      );
      expect(fingerprintOf(a, map)).not.toBe(fingerprintOf(b, map));
      expect(fingerprintOf('x', map, [a])).not.toBe(fingerprintOf('x', map, [b]));
    }),
  );
});

test('values cannot be shifted between labels', () => {
  expect(fingerprintOf('x', { a: 'b","c', d: 'e' })).not.toBe(fingerprintOf('x', { a: 'b', c: 'd', d: 'e' }));
});

test('two alerts are about the same thing when one tells no more than the other', () => {
  const words = (map: Record<string, string>) => identityOf({ labels: map });
  expect(sameThing(words({ instance: 'Shop-DB' }), words({ host: 'shop-db', job: 'pg' }))).toBe(true);
  expect(sameThing(words({}), words({ instance: 'a' }))).toBe(true);
  expect(sameThing(words({ instance: 'a', job: 'pg' }), words({ instance: 'b', job: 'pg' }))).toBe(false);
  expect(sameThing(words({ state: 'idle' }), words({ state: 'idle in transaction' }))).toBe(false);
  expect(words({ alertname: 'X', severity: 'page', instance: 'b', db: 'a' })).toEqual(['a', 'b']);
});

test.each([
  ['critical', 'critical'],
  ['SEV-1', 'critical'],
  ['page', 'critical'],
  ['High', 'error'],
  ['Warn', 'warning'],
  ['OK', 'info'],
  ['purple', 'unknown'],
  [null, 'unknown'],
])('the word %s means %s', (word, severity) => {
  expect(severityOf(word)).toBe(severity);
});
