import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { Mapping } from '../../../src/sources/declared/mapping.ts';
import { mappedSource } from '../../../src/sources/declared/read-mapped.ts';
import { addMappings, alertSource, webhookSources } from '../../../src/sources/registry.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const receivedAt = new Date('2026-03-01T12:00:00Z');
const file = { name: 'mine', title: 'Mine', docs: 'https://example.com' };

const source = (mapping: object) => mappedSource(Mapping.parse({ ...file, ...mapping }));
const read = async (mapping: object, payload: unknown) => source(mapping).read(payload, { receivedAt });

describe('a mapping', () => {
  test('reads an alert, and what it leaves out has a default', async () => {
    expect(
      await read({ alert: '{"title": what, "status": state}' }, { what: 'disk full', state: 'DOWN' }),
    ).toEqual({
      ok: true,
      alerts: [
        {
          source: 'mine',
          status: 'firing',
          name: null,
          title: 'disk full',
          severity: 'unknown',
          sourceSeverity: null,
          labels: {},
          annotations: {},
          target: null,
          fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
          deliveryKey: expect.stringContaining('mine:'),
          startsAt: receivedAt.toISOString(),
          endsAt: null,
          url: null,
        },
      ],
    });
  });

  test.each([
    ['no title', '{"status": "down"}', { field: 'title', reason: 'expected a text' }],
    [
      'an unknown status',
      '{"title": "x", "status": "purple"}',
      { field: 'status', reason: expect.stringContaining('"purple"') },
    ],
    [
      'a field that there is not',
      '{"title": "x", "status": "down", "colour": 1}',
      { field: '', reason: 'has no field colour' },
    ],
    ['a list', '[1, 2]', { field: '', reason: 'expected an object' }],
  ])('that gives %s refuses the payload', async (_what, alert, says) => {
    expect(await read({ alert }, {})).toEqual({ ok: false, ...says });
  });

  test('has the sender’s own words', async () => {
    const own = {
      alert: '{"title": "x", "status": state, "severity": level}',
      status: { firing: ['Too High'], resolved: ['muted'] },
      severity: { Sev9: 'critical' },
    };
    expect(await read(own, { state: 'too high', level: 'SEV9' })).toMatchObject({
      alerts: [{ status: 'firing', severity: 'critical', sourceSeverity: 'SEV9' }],
    });
    expect(await read(own, { state: 'Muted' })).toMatchObject({ alerts: [{ status: 'resolved' }] });
  });

  test('reads each part by itself: a bad one refuses itself', async () => {
    const mapping = { each: 'events', alert: '{"title": name, "status": "down"}' };
    expect(await read(mapping, { events: [{ name: 'a' }, { nome: 'b' }, { name: 'c' }, 7] })).toMatchObject({
      ok: true,
      alerts: [{ title: 'a' }, { title: 'c' }],
      refused: [{ field: 'events.1.title' }, { field: 'events.3' }],
    });
    expect(await read(mapping, {})).toEqual({ ok: false, field: '', reason: 'has nothing at events' });
  });

  test('that would not end is ended', async () => {
    const endless = '($f := function($n) { $f($n + 1) }; {"title": $f(0), "status": "down"})';
    expect(await read({ alert: endless }, {})).toMatchObject({
      ok: false,
      reason: expect.stringContaining('cannot be read'),
    });
  });

  test('takes linear time for a pattern that is slow elsewhere', async () => {
    const alert = '{"title": $match(text, /^(a+)+$/) ? "all" : "not all", "status": "down"}';
    expect(await read({ alert }, { text: `${'a'.repeat(5_000)}b` })).toMatchObject({
      alerts: [{ title: 'not all' }],
    });
  });

  test('cannot reach what is outside the payload', async () => {
    for (const way of [
      'constructor',
      '__proto__.constructor',
      '$constructor',
      '$$.constructor.constructor("return 1")()',
    ])
      expect(await read({ alert: `{"title": $string(${way}), "status": "down"}` }, {})).toMatchObject({
        ok: false,
      });
  });
});

describe('a mapping file', () => {
  test.each([
    ['a name of capitals', { name: 'Mine' }, 'name: expected letters, digits and dashes'],
    ['no alert', { alert: undefined }, 'alert:'],
    ['what is no JSONata', { alert: '{"title": ' }, 'alert: is no JSONata'],
    ['a field that there is not', { colour: 'red' }, 'colour'],
    [
      'a pattern that only backtracking can try',
      { alert: '{"title": $match(x, /(a)\\1/)}' },
      'alert: is no JSONata',
    ],
  ])('with %s is refused, naming file and field', (_what, wrong, says) => {
    const folder = folderOf({ 'mine.yaml': { ...file, alert: '{}', ...wrong } });
    expect(() => addMappings(folder)).toThrow(says);
    expect(() => addMappings(folder)).toThrow('mine.yaml');
  });

  test('of an operator is a source with a webhook, and is taken in once', async () => {
    const folder = folderOf({
      'mine.yaml': { ...file, alert: '{"title": what, "status": "down"}' },
      'notes.txt': {},
    });
    addMappings(folder);
    addMappings(folder);
    expect(webhookSources().filter(({ name }) => name === 'mine')).toHaveLength(1);
    expect(await alertSource('mine').read({ what: 'disk full' }, { receivedAt })).toMatchObject({ ok: true });
    addMappings(null);
    expect(() => alertSource('mine')).toThrow('There is no alert source "mine".');
  });

  test('is looked for in a folder that is there', () => {
    expect(() => addMappings(join(scratchDir(), 'nowhere'))).toThrow(/^SENTRY_SOURCES_DIR: .*nowhere/);
  });

  test('cannot take the place of a source of ours', () => {
    const folder = folderOf({ 'pagerduty.yaml': { ...file, name: 'pagerduty', alert: '{}' } });
    expect(() => addMappings(folder)).toThrow('pagerduty.yaml: there is an alert source pagerduty already');
  });
});

afterEach(() => addMappings(null));

function folderOf(files: Readonly<Record<string, object>>): string {
  const folder = scratchDir();
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify(content));
  return folder;
}
