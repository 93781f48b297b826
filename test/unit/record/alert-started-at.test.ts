import { expect, test } from 'vitest';
import type { RecordedAlert } from '../../../src/core/incident-record.ts';
import { alertStartedAt } from '../../../src/record/alert-started-at.ts';
import { anIncident } from '../../support/incident-record.ts';

const alert = (startsAt: string, more: Partial<RecordedAlert> = {}): RecordedAlert => ({
  source: 'alertmanager',
  status: 'firing',
  title: 'shop-db: sessions are blocked',
  labels: { alertname: 'PostgresBlockedSessions' },
  annotations: {},
  startsAt,
  receivedAt: '2026-11-21T10:05:00Z',
  url: null,
  deliveryKey: 'alertmanager:1',
  ...more,
});
const other = { title: 'disk', labels: { alertname: 'DiskFull' } };

test.each<[string, readonly RecordedAlert[], string | null]>([
  [
    'its own, not of what was put with it',
    [alert('2026-11-21T09:00:00Z'), alert('2026-11-21T08:00:00Z', other)],
    '2026-11-21T09:00:00Z',
  ],
  [
    'the last time that it began to fire',
    [alert('2026-11-21T09:00:00Z'), alert('2026-11-21T10:00:00Z')],
    '2026-11-21T10:00:00Z',
  ],
  [
    'not of its end',
    [alert('2026-11-21T09:00:00Z'), alert('2026-11-21T10:00:00Z', { status: 'resolved' })],
    '2026-11-21T09:00:00Z',
  ],
  [
    'another’s where its own has none',
    [alert('0001-01-01T00:00:00Z'), alert('2026-11-21T08:00:00Z', other)],
    '2026-11-21T08:00:00Z',
  ],
  ['nothing where no source says it', [alert('0001-01-01T00:00:00Z'), alert('1970-01-01T00:00:00Z')], null],
  ['nothing where there is no alert', [], null],
])('when the alert began: %s', (_, alerts, at) => {
  expect(alertStartedAt({ incident: anIncident(), alerts })).toBe(at);
});
