import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scoreSituations } from '../../../evals/correlation/score-situations.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import { correlate, type Neighbour, type Side } from '../../../src/incidents/correlation/correlate.ts';
import { groupSituation, Situation } from '../../../src/incidents/correlation/situations.ts';
import { harmsOthers, mayFollow, symptomOf } from '../../../src/incidents/correlation/symptom.ts';
import { topologyOf } from '../../../src/incidents/correlation/topology.ts';

const system = (name: string, ...neighbours: readonly string[]): Neighbour => ({
  name,
  neighbours,
  environment: 'production',
  aliases: [],
  observes: false,
});
const topology = topologyOf([system('db'), system('api', 'db'), system('web', 'api'), system('twin', 'api')]);
const side = (id: string, target: string | null, change: Partial<Side> = {}): Side => ({
  id,
  target,
  state: 'open',
  beganAt: new Date('2026-03-04T10:00:00Z'),
  title: `${target} is down`,
  alertName: null,
  severity: 'critical',
  labels: {},
  annotations: {},
  source: 'alertmanager',
  fires: true,
  rests: false,
  acts: false,
  isMember: false,
  ...change,
});
const MINUTES = 60_000;
const of = (a: Side, b: Side) => correlate(a, b, topology, null, 15 * MINUTES);

test('of the labelled situations none is wrongly one, and at least 0.9 of those with one problem are', () => {
  const scored = scoreSituations(
    readFileSync(new URL('../../../evals/correlation/situations.jsonl', import.meta.url), 'utf8'),
  );
  expect(scored.wronglyMerged).toEqual([]);
  expect(scored.share).toBeGreaterThanOrEqual(0.9);
  expect(scored.must).toBeGreaterThanOrEqual(20);
  expect(scored.mustNot).toBeGreaterThanOrEqual(30);
});

test('what is stood upon leads, whichever is asked about first', () => {
  const [db, api] = [side('INC-9', 'db'), side('INC-2', 'api')];
  const because = { kind: 'neighbour', target: 'api', neighbour: 'db' };
  const merged = { kind: 'merge', child: 'INC-2', lead: 'INC-9', because };
  expect(of(db, api)).toEqual(merged);
  expect(of(api, db)).toEqual(merged);
});

test.each<[string, Partial<Side>, Partial<Side>]>([
  ['began at another time', {}, { beganAt: new Date('2026-03-04T10:15:01Z') }],
  ['is over', { fires: false }, {}],
  ['waits by itself', { rests: true }, {}],
  ['was opened by hand', {}, { source: 'hand' }],
  ['has an approval open', {}, { acts: true }],
  ['is a part of another', {}, { isMember: true }],
  ['says what it needs', {}, { title: 'api cannot reach twin' }],
  ['is of another tenant', { labels: { tenant: 'a' } }, { labels: { tenant: 'b' } }],
])('nothing is merged where one %s', (_, db, api) => {
  expect(of(side('INC-1', 'db', db), side('INC-2', 'api', api)).kind).not.toBe('merge');
});

test.each<[IncidentState, boolean, boolean]>([
  ['open', true, true],
  ['planning', true, true],
  ['awaiting_approval', true, false],
  ['verifying', true, false],
  ['reported', false, false],
  ['escalated', false, false],
  ['stopped', false, false],
  ['resolved', false, false],
])('%s: leads %s, rests %s', (state, leads, rests) => {
  expect(of(side('INC-1', 'db', { state }), side('INC-2', 'api')).kind === 'merge').toBe(leads);
  expect(of(side('INC-1', 'db'), side('INC-2', 'api', { state })).kind === 'merge').toBe(rests);
});

test('one that rests leads what stands on it', () => {
  expect(of(side('INC-1', 'api', { isMember: true }), side('INC-2', 'web'))).toMatchObject({
    kind: 'merge',
    child: 'INC-2',
  });
});

test('of one change the earlier leads, of one moment the lower number', () => {
  const change = { id: 'd-1', title: 'release 7', url: null };
  const [a, b] = [side('INC-10', 'db'), side('INC-9', 'web')];
  const shared = { ...change, isTrusted: true };
  expect(correlate(a, b, topology, shared, MINUTES)).toMatchObject({ child: 'INC-10', because: { change } });
  expect(of(a, b)).toEqual({ kind: 'hint' });
});

test('one sender’s word of a change puts no critical incident to rest: it leads, or stays on its own', () => {
  const told = { id: 'd-1', title: 'release 7', url: null, isTrusted: false };
  const [critical, warning] = [side('INC-10', 'db'), side('INC-9', 'web', { severity: 'warning' })];
  expect(correlate(critical, warning, topology, told, MINUTES)).toMatchObject({
    child: 'INC-9',
    lead: 'INC-10',
  });
  expect(correlate(critical, side('INC-9', 'web'), topology, told, MINUTES)).toEqual({ kind: 'hint' });
  const waits = { ...critical, state: 'awaiting_approval' } as const;
  expect(correlate(waits, warning, topology, told, MINUTES)).not.toMatchObject({ child: 'INC-10' });
});

test('the commit that both alerts name counts also where an untrusted sender has told of a change', () => {
  const told = { id: 'd-1', title: 'release 7', url: null, isTrusted: false };
  const labels = { commit: '0123456789abcdef0123456789abcdef01234567' };
  const [a, b] = [side('INC-9', 'db', { labels }), side('INC-10', 'web', { labels })];
  expect(correlate(a, b, topology, told, MINUTES)).toMatchObject({
    child: 'INC-10',
    because: { isTrusted: true, change: { id: labels.commit } },
  });
});

test('one alert name of two words is read as words, and a system’s name says nothing of what is wrong', () => {
  const told = { alertName: 'KubePodCrashLooping', title: '', severity: 'warning', names: [] } as const;
  expect(mayFollow(told)).toBe(true);
  const backup = { alertName: null, title: 'backup-api is down', severity: 'critical' } as const;
  expect(symptomOf({ ...backup, names: ['backup-api'] })).toBe('service');
  expect(symptomOf({ ...backup, title: 'Backup failed', names: ['backup'] })).toBe('own');
});

test('a disk that fills harms nobody yet, one that is full does; neither comes of another’s trouble', () => {
  const disk = { alertName: null, title: 'Disk usage 82 %', severity: 'warning', names: [] } as const;
  expect(harmsOthers(disk)).toBe(false);
  expect(harmsOthers({ ...disk, title: 'Disk full' })).toBe(true);
  expect(mayFollow({ ...disk, title: 'Disk full' })).toBe(false);
});

test('a situation’s alerts are each in one group, whatever their order', () => {
  const situation = Situation.parse({
    id: 7,
    targets: [
      { name: 'db', kind: 'postgres' },
      { name: 'api', kind: 'docker', neighbours: ['db'] },
    ],
    alerts: [
      { at: '2026-03-04T10:02:00Z', title: 'api returns 5xx', target: 'api' },
      { at: '2026-03-04T10:09:00Z', title: 'gone', target: 'db', status: 'resolved' },
      { at: '2026-03-04T10:00:00Z', title: 'db is down', target: 'db' },
    ],
  });
  expect(groupSituation(situation, [], 15 * MINUTES)).toEqual({
    id: '7',
    groups: [[0, 2], [1]],
    because: ['api returns 5xx is a part of db is down: db is declared a neighbour of api'],
  });
});
