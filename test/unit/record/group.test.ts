import { expect, test } from 'vitest';
import { groupMembers } from '../../../src/core/group.ts';
import type { RecordedAlert } from '../../../src/core/incident-record.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { drawRoot } from '../../../src/slack/views/blocks/root.ts';
import { anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';

const alert = (device: string, status: 'firing' | 'resolved' = 'firing'): RecordedAlert => ({
  source: 'alertmanager',
  status,
  title: 'DiskFull',
  labels: { alertname: 'DiskFull', database: 'orders-db', device },
  annotations: {},
  startsAt: '2026-03-01T10:00:00.000Z',
  receivedAt: '2026-03-01T10:00:00.000Z',
  url: null,
  deliveryKey: `alertmanager:${device}:${status}`,
});
const devices = Array.from({ length: 12 }, (_, n) => `sd${n}`);
const record = aRecord({
  incident: anIncident({ title: 'DiskFull', target: 'orders-db', members: 12, membersFiring: 11 }),
  alerts: [...devices.map((device) => alert(device)), alert('sd0', 'resolved')],
  events: eventsOf(
    ...devices.slice(1).map((_, n) => ({
      type: 'alert.repeated' as const,
      source: 'alertmanager',
      occurrences: 1,
      members: n + 2,
    })),
  ),
});

test('the alerts of a group are told by what tells them apart, with the last word of each', () => {
  expect(groupMembers(record)).toEqual([
    'device=sd0 (over)',
    ...devices.slice(1).map((one) => `device=${one}`),
  ]);
  expect(groupMembers({ ...record, incident: anIncident() })).toEqual([]);
});

test('its thread says how many there are, and the story names ten of them in one line', () => {
  const { text, blocks } = drawRoot(record);
  expect(text).toContain('12 of DiskFull');
  expect(JSON.stringify(blocks)).toContain('11 of 12 fire');
  const story = why(record);
  expect(story).toContain('12 of DiskFull');
  expect(story).toContain('*Its alerts* (11 of 12 fire): device=sd0 (over) · device=sd1');
  expect(story).toContain('device=sd9 · and 2 more');
  expect(story.match(/of its group by now/g)).toHaveLength(1);
  expect(story).toContain('12 alerts of its group by now (alertmanager)');
});
