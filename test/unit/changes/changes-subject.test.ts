import { describe, expect, it } from 'vitest';
import type { IncidentEvent } from '../../../src/core/event.ts';
import type { Incident } from '../../../src/core/incident.ts';
import type { RecordedAlert } from '../../../src/core/incident-record.ts';
import type { Target } from '../../../src/core/target.ts';
import { changesSubjectOf } from '../../../src/incidents/changes-around.ts';

const target = (given: Partial<Target>): Target => ({
  name: 'shop',
  kind: 'kubernetes',
  domain: 'kubernetes',
  environment: 'production',
  aliases: [],
  ...given,
});
const targets = new Map(
  [
    target({ aliases: ['Shop-NS'], neighbours: ['orders-db', 'gone'], changesFrom: ['argo-cd'] }),
    target({ name: 'orders-db', kind: 'postgres', domain: 'postgres', aliases: ['orders'] }),
    target({ name: 'staging', environment: 'staging', aliases: ['shop-staging'] }),
    target({ name: 'billing' }),
  ].map((each) => [each.name, each]),
);
const minute = (n: number): string => new Date(Date.UTC(2026, 2, 1, 12, n)).toISOString();

const subjectOf = (
  incident: Partial<Incident>,
  alerts: readonly Partial<RecordedAlert>[] = [],
  events: readonly object[] = [],
) =>
  changesSubjectOf(
    {
      incident: {
        target: 'shop',
        alertName: 'ApiErrors',
        title: 'errors',
        members: 1,
        labels: {},
        annotations: {},
        openedAt: minute(0),
        ...incident,
      } as Incident,
      alerts: alerts.map((alert) => ({
        status: 'firing',
        title: 'errors',
        labels: { alertname: 'ApiErrors' },
        startsAt: minute(0),
        ...alert,
      })) as RecordedAlert[],
      events: events as IncidentEvent[],
    },
    targets,
  );

describe('what changes are looked for of', () => {
  it('is the system, by all its names, and those that it may read beside it', () => {
    expect(subjectOf({})).toMatchObject({
      system: {
        name: 'shop',
        names: ['shop', 'shop-ns'],
        environment: 'production',
        changesFrom: ['argo-cd'],
      },
      neighbours: [{ name: 'orders-db', names: ['orders-db', 'orders'], changesFrom: null }],
      elsewhere: ['staging', 'shop-staging'],
      workloads: [],
    });
  });

  it.each<[string, Readonly<Record<string, string>>, object]>([
    ['a service', { service: 'Shop-API' }, { workloads: ['shop-api'] }],
    [
      'a pod of a deployment',
      { pod: 'api-7d9f8b6c5d-x2x4z' },
      { workloads: ['api-7d9f8b6c5d-x2x4z', 'api'] },
    ],
    ['a pod of a stateful set', { pod: 'cart-0' }, { workloads: ['cart-0', 'cart'] }],
    [
      'a pod alone, and its namespace',
      { pod: 'shop-api-7d9f8c6b5-x2x4z', namespace: 'Web' },
      { workloads: ['shop-api-7d9f8c6b5-x2x4z', 'shop-api'], namespaces: ['web'] },
    ],
    [
      'a pod of another deployment whose name begins the same',
      { pod: 'shop-api-v2-7d9f8c6b5-x2x4z' },
      { workloads: ['shop-api-v2-7d9f8c6b5-x2x4z', 'shop-api-v2'] },
    ],
    ['a pod of a daemon set', { pod: 'log-agent-x2x4z' }, { workloads: ['log-agent-x2x4z', 'log-agent'] }],
    [
      'a pod of a cron job',
      { pod: 'nightly-29123456-x2x4z' },
      { workloads: ['nightly-29123456-x2x4z', 'nightly'] },
    ],
    ['a job of a cron job', { job_name: 'nightly-29123456' }, { workloads: ['nightly-29123456', 'nightly'] }],
    ['a job that a person named', { job_name: 'load-2026' }, { workloads: ['load-2026'] }],
    ['a replica set', { replicaset: 'api-7d9f8b6c5d' }, { workloads: ['api-7d9f8b6c5d', 'api'] }],
    ['a pod that a person named', { pod: 'shop-cache' }, { workloads: ['shop-cache'] }],
    ['a service that ends as a pod does', { service: 'shop-http2' }, { workloads: ['shop-http2'] }],
    ['a deployment that ends in a number', { deployment: 'shop-2' }, { workloads: ['shop-2'] }],
    ['a name that only looks like a pod', { service: 'shop-cache' }, { workloads: ['shop-cache'] }],
    ['a table', { table: 'shop.orders' }, { data: ['shop.orders', 'orders'], workloads: [] }],
    ['who is scraped', { job: 'checkout' }, { alsoCalled: ['checkout'], workloads: [] }],
    ['the sort of thing', { app: 'kubernetes', job: 'node-exporter' }, { workloads: [], alsoCalled: [] }],
    ['the system itself', { service: 'shop' }, { workloads: [] }],
  ])('is %s, as its labels have it', (_, labels, about) => {
    expect(subjectOf({ labels })).toMatchObject(about);
  });

  it('is what each alert of a group names', () => {
    const alerts = ['api', 'cart'].map((service) => ({ labels: { alertname: 'ApiErrors', service } }));
    expect(subjectOf({ members: 2 }, alerts).workloads).toEqual(['api', 'cart']);
  });

  it('is the service alone where no system is configured', () => {
    const labels = { service: 'api', env: 'prod' };
    expect(subjectOf({ target: null, labels })).toMatchObject({
      system: null,
      environment: 'prod',
      workloads: ['api'],
      neighbours: [],
    });
  });
});

describe('when it began', () => {
  const concluded = (onset: string) => ({ type: 'diagnosis.concluded', at: minute(5), diagnosis: { onset } });
  it.each<[string, Parameters<typeof subjectOf>, string]>([
    ['when it was opened', [{}], minute(0)],
    ['when its alert began, if that was before', [{}, [{ startsAt: minute(-7) }]], minute(-7)],
    ['when it was opened, though its alert tells a later time', [{}, [{ startsAt: minute(3) }]], minute(0)],
    ['not in the year 1', [{}, [{ startsAt: '0001-01-01T00:00:00Z' }]], minute(0)],
    ['when a diagnosis showed it', [{}, [], [concluded(minute(-20))]], minute(-20)],
    ['not days before, whatever a diagnosis says', [{}, [], [concluded('2026-02-20T00:00:00Z')]], minute(0)],
    ['not at a word that is no time', [{}, [], [concluded('yesterday')]], minute(0)],
    [
      'anew, where it fired again after its end',
      [
        {},
        [{ startsAt: minute(-7) }, { startsAt: minute(40) }],
        [concluded(minute(-20)), { type: 'alert.repeated', again: true, at: minute(41) }],
      ],
      minute(40),
    ],
  ])('is %s', (_, given, beganAt) => {
    expect(subjectOf(...given).beganAt).toBe(beganAt);
  });
});
