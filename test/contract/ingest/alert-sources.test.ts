import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import type { AlertSource } from '../../../src/sources/ports.ts';
import { alertSources } from '../../../src/sources/registry.ts';
import { alertmanagerBody } from '../../support/alerts.ts';

interface Fixture {
  readonly firing: object;
  readonly resolved: object;
  readonly otherInstance: object;
  readonly bad: readonly { readonly payload: unknown; readonly field: string }[];
}

const post = (ts: string, rest: object) => ({
  type: 'message',
  channel: 'C0ALERTS',
  bot_id: 'B0AM',
  ts,
  ...rest,
});
const titled = (title: string, color: string) => ({
  text: '',
  attachments: [{ title, color, fallback: `${title} | x` }],
});
const first = (body: object) => (body as { alerts: object[] }).alerts[0] as Record<string, unknown>;
const withAlert = (change: object) => ({
  alerts: [{ ...first(alertmanagerBody({ instance: 'a' })), ...change }],
});

/** What every source must show it can do; a new source adds its own payloads here. */
const fixtures: Readonly<Record<string, Fixture>> = {
  alertmanager: {
    firing: alertmanagerBody({ instance: 'shop-db' }),
    resolved: alertmanagerBody({ instance: 'shop-db' }, { status: 'resolved' }),
    otherInstance: alertmanagerBody({ instance: 'other-db' }),
    bad: [
      { payload: null, field: '' },
      { payload: [], field: '' },
      { payload: {}, field: 'alerts' },
      { payload: { alerts: [] }, field: 'alerts' },
      { payload: { alerts: 'x' }, field: 'alerts' },
      { payload: withAlert({ status: 'broken' }), field: 'alerts.0.status' },
      { payload: withAlert({ labels: {} }), field: 'alerts.0.labels' },
      { payload: withAlert({ labels: { instance: 5 } }), field: 'alerts.0.labels.instance' },
      { payload: withAlert({ startsAt: 'yesterday' }), field: 'alerts.0.startsAt' },
      { payload: withAlert({ startsAt: undefined }), field: 'alerts.0.startsAt' },
    ],
  },
  slack: {
    firing: post(
      '1700000000.000100',
      titled('[FIRING:1] PostgresBlockedSessions (shop-db critical)', 'danger'),
    ),
    resolved: post(
      '1700000060.000100',
      titled('[RESOLVED] PostgresBlockedSessions (shop-db critical)', 'good'),
    ),
    otherInstance: post(
      '1700000001.000100',
      titled('[FIRING:1] PostgresBlockedSessions (other-db critical)', 'danger'),
    ),
    bad: [
      { payload: null, field: '' },
      { payload: { channel: 'C1' }, field: 'ts' },
      { payload: { channel: 'C1', ts: 'now' }, field: 'ts' },
      { payload: post('1700000000.000100', { attachments: 'x' }), field: 'attachments' },
    ],
  },
};

const receivedAt = new Date('2026-03-01T12:00:00Z');
function one(source: AlertSource, payload: unknown): Alert {
  const read = source.read(payload, { receivedAt });
  if (!read.ok) throw new Error(`${read.field}: ${read.reason}`);
  expect(read.alerts).toHaveLength(1);
  return read.alerts[0] as Alert;
}

test('every source has fixtures', () => {
  expect(Object.keys(fixtures).toSorted()).toEqual(alertSources.map(({ name }) => name).toSorted());
});

describe.each(alertSources.map((source) => ({ source, name: source.name })))(
  'the source $name',
  ({ source, name }) => {
    const fixture = fixtures[name] as Fixture;

    test('reads a firing alert into the normal form', () => {
      expect(one(source, fixture.firing)).toMatchObject({
        source: name,
        status: 'firing',
        name: 'PostgresBlockedSessions',
        title: 'PostgresBlockedSessions',
        severity: 'critical',
        target: 'shop-db',
        endsAt: null,
        fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
    });

    test('gives the end of an alert the fingerprint of its beginning, and a delivery key of its own', () => {
      const [begun, ended] = [one(source, fixture.firing), one(source, fixture.resolved)];
      expect(ended.status).toBe('resolved');
      expect(ended.endsAt).not.toBeNull();
      expect(ended.fingerprint).toBe(begun.fingerprint);
      expect(ended.deliveryKey).not.toBe(begun.deliveryKey);
    });

    test('reads the same delivery twice into the same alert', () => {
      expect(one(source, structuredClone(fixture.firing))).toEqual(one(source, fixture.firing));
    });

    test('tells another instance of the same alert from it', () => {
      expect(one(source, fixture.otherInstance).fingerprint).not.toBe(
        one(source, fixture.firing).fingerprint,
      );
    });

    test.each(fixture.bad)('names the field "$field" of a bad payload', ({ payload, field }) => {
      const read = source.read(payload, { receivedAt });
      expect(read).toMatchObject({ ok: false, field });
      expect(read.ok === false && read.reason).toMatch(/\w/);
    });
  },
);
