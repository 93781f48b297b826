import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import { storableJson } from '../../../src/core/storable.ts';
import type { AlertSource } from '../../../src/sources/ports.ts';
import { alertSources, endSenders } from '../../../src/sources/registry.ts';
import type { SourceFixtures } from './fixtures.ts';

const receivedAt = new Date('2026-03-01T12:00:00Z');

async function readOne(source: AlertSource, payload: unknown): Promise<Alert> {
  const read = await source.read(payload, { receivedAt });
  if (!read.ok) throw new Error(`${read.field}: ${read.reason}`);
  expect(read.alerts).toHaveLength(1);
  // What the database takes for a time.
  for (const { startsAt, endsAt } of read.alerts)
    for (const time of [startsAt, endsAt ?? startsAt]) expect(time).toMatch(/^\d{4}-.*Z$/);
  return read.alerts[0] as Alert;
}

async function fixturesOf(name: string): Promise<SourceFixtures> {
  const file = join(import.meta.dirname, `${name}.ts`);
  const module = existsSync(file) ? ((await import(file)) as { fixtures?: SourceFixtures }) : {};
  if (module.fixtures) return module.fixtures;
  throw new Error(
    `Add test/contract/sources/${name}.ts, which exports \`fixtures: SourceFixtures\`: payloads of this source, and what must be read in them.`,
  );
}

/** The payload once for every value in it and every other that could stand there. */
function distorted(payload: unknown): readonly unknown[] {
  const others: readonly unknown[] = [null, undefined, '', 'x', '1e99', 0, -1, 1e300, true, [], {}, [[]]];
  if (payload === null || typeof payload !== 'object') return others;
  const parts = Object.entries(payload).flatMap(([key, value]) =>
    distorted(value).map((other) =>
      Array.isArray(payload) ? payload.with(Number(key), other) : { ...payload, [key]: other },
    ),
  );
  return [...others, ...parts];
}

test('no two sources have one name, and each name fits in a path', () => {
  const names = alertSources.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/);
});

const ofAlerts = alertSources.filter(({ changes }) => changes !== 'only');

describe.each(ofAlerts.map((source) => ({ source, name: source.name })))(
  'the source $name',
  ({ source, name }) => {
    test('reads a firing alert into the normal form', async () => {
      const { firing, alert } = await fixturesOf(name);
      expect(await readOne(source, firing)).toMatchObject({
        source: name,
        status: 'firing',
        endsAt: null,
        fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
        startsAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        ...alert,
      });
    });

    test('gives the end of an alert the fingerprint of its beginning, and a delivery key of its own', async () => {
      const { firing, resolved } = await fixturesOf(name);
      if (resolved === null) {
        // Then nobody may wait for it either.
        expect(endSenders().has(name)).toBe(false);
        return;
      }
      const [begun, ended] = [await readOne(source, firing), await readOne(source, resolved)];
      expect(ended.status).toBe('resolved');
      expect(ended.endsAt).not.toBeNull();
      expect(ended.fingerprint).toBe(begun.fingerprint);
      expect(ended.deliveryKey).not.toBe(begun.deliveryKey);
    });

    test('reads the same delivery twice into the same alert', async () => {
      const { firing } = await fixturesOf(name);
      expect(await readOne(source, structuredClone(firing))).toEqual(await readOne(source, firing));
    });

    test('tells the same problem on another thing from it', async () => {
      const { firing, otherThing } = await fixturesOf(name);
      const [one, other] = [await readOne(source, firing), await readOne(source, otherThing)];
      expect(other.fingerprint).not.toBe(one.fingerprint);
      expect(other.deliveryKey).not.toBe(one.deliveryKey);
    });

    test.each([
      ['NUL and half a character', 'a\u0000b \ud83d c'],
      ['a very long line', 'x'.repeat(20_000)],
      ['a character cut by every limit', '\u{1F525}'.repeat(10_000)],
      ['what reads like a field of an object', '__proto__'],
    ])('reads an alert that carries %s into one that can be stored', async (_what, text) => {
      const { carrying } = await fixturesOf(name);
      const alert = await readOne(source, carrying(text));
      expect(storableJson(alert)).toEqual(alert);
      expect(alert.title.length).toBeLessThanOrEqual(300);
    });

    test('answers whatever it is sent, and never throws', async () => {
      const { firing } = await fixturesOf(name);
      for (const payload of distorted(firing))
        expect(typeof (await source.read(payload, { receivedAt })).ok).toBe('boolean');
    });

    test('refuses what it cannot read, naming the field and what was expected', async () => {
      const { bad } = await fixturesOf(name);
      expect(bad.length).toBeGreaterThan(0);
      for (const { payload, field, says } of bad)
        expect([payload, await source.read(payload, { receivedAt })]).toEqual([
          payload,
          { ok: false, field, reason: expect.stringContaining(says) },
        ]);
    });
  },
);
