import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Change, changeKinds, changeStates } from '../../../src/core/change.ts';
import { storableJson } from '../../../src/core/storable.ts';
import type { AlertSource } from '../../../src/sources/ports.ts';
import { alertSources } from '../../../src/sources/registry.ts';
import type { ChangeFixtures } from './fixtures.ts';

const receivedAt = new Date('2026-03-01T12:00:00Z');
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

async function changesOf(source: AlertSource, payload: unknown): Promise<readonly Change[]> {
  const read = await source.read(payload, { receivedAt });
  if (!read.ok) throw new Error(`${read.field}: ${read.reason}`);
  return read.changes ?? [];
}

async function fixturesOf(name: string): Promise<ChangeFixtures> {
  const { changes } = (await import(join(import.meta.dirname, `${name}.ts`))) as {
    readonly changes?: ChangeFixtures;
  };
  if (changes) return changes;
  throw new Error(`Export \`changes: ChangeFixtures\` from test/contract/sources/${name}.ts.`);
}

/** The payload once for every text in it, with that text instead. */
function withText(payload: unknown, text: string): readonly unknown[] {
  if (typeof payload === 'string') return [text];
  if (payload === null || typeof payload !== 'object') return [];
  return Object.entries(payload).flatMap(([key, value]) =>
    withText(value, text).map((other) =>
      Array.isArray(payload) ? payload.with(Number(key), other) : { ...payload, [key]: other },
    ),
  );
}

const told = alertSources.filter(({ changes }) => changes !== undefined);

describe.each(told.map((source) => ({ source, name: source.name })))(
  'the source $name',
  ({ source, name }) => {
    test('reads a change that took effect, and no alert that begins', async () => {
      const { succeeded, change } = await fixturesOf(name);
      expect(await changesOf(source, succeeded)).toMatchObject([
        { source: name, state: 'succeeded', at: expect.stringMatching(TIME), ...change },
      ]);
      const read = await source.read(succeeded, { receivedAt });
      expect(read.ok ? read.alerts.filter(({ status }) => status === 'firing') : read).toEqual([]);
    });

    test('gives what began the id of what took effect, and opens nothing for it', async () => {
      const { succeeded, started } = await fixturesOf(name);
      if (started === null) return;
      const [begun, done] = [await changesOf(source, started), await changesOf(source, succeeded)];
      expect(begun.map(({ state }) => state)).toEqual(['started']);
      expect(begun[0]?.id).toBe(done[0]?.id);
      expect(begun[0]?.startedAt).toBe(begun[0]?.at);
      const read = await source.read(started, { receivedAt });
      expect(read.ok && read.alerts).toEqual([]);
    });

    test('reads the same delivery twice into the same change', async () => {
      const { succeeded } = await fixturesOf(name);
      expect(await changesOf(source, structuredClone(succeeded))).toEqual(await changesOf(source, succeeded));
    });

    test('answers a delivery that tells of no change, and tells of none', async () => {
      const { none } = await fixturesOf(name);
      for (const payload of none) expect([payload, await changesOf(source, payload)]).toEqual([payload, []]);
    });

    test.each([
      ['NUL and half a character', 'a\u0000b \ud83d c'],
      ['a very long line', 'x'.repeat(20_000)],
      ['what reads like a field of an object', '__proto__'],
      ['a time to come', '9999-01-01T00:00:00Z'],
    ])('reads a change that carries %s into one that can be stored', async (_what, text) => {
      const { succeeded } = await fixturesOf(name);
      for (const payload of withText(succeeded, text)) {
        const read = await source.read(payload, { receivedAt });
        for (const change of read.ok ? (read.changes ?? []) : []) {
          expect(storableJson(change)).toEqual(change);
          expect(change.title.length).toBeLessThanOrEqual(300);
          expect(change.id.length).toBeLessThanOrEqual(300);
          expect(change.where.every((one) => one.length <= 300 && one === one.toLowerCase())).toBe(true);
          expect(change.at <= receivedAt.toISOString()).toBe(true);
          expect(changeKinds).toContain(change.kind);
          expect(changeStates).toContain(change.state);
        }
      }
    });
  },
);
