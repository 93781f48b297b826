import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { Target } from '../../../src/core/target.ts';
import { type Accept, createAccept } from '../../../src/ingest/accept.ts';
import { createRecords } from '../../../src/record/record.ts';
import { alertSource } from '../../../src/sources/registry.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { slackAlert } from '../../support/alerts.ts';
import { domainOf } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';

const targets: readonly Target[] = ['orders-db', 'users-db'].map((name) => ({
  name,
  kind: 'postgres',
  domain: 'postgres',
  environment: 'test',
  aliases: [],
}));

let db: AcceptDatabase;
let accept: Accept;
beforeAll(async () => {
  db = await acceptDatabase(32);
  accept = createAccept(db.sql, targets, domainOf);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
});

const incidents = () => db.sql<Row>`SELECT * FROM incident ORDER BY opened_at`;

interface Given {
  readonly status?: 'firing' | 'resolved';
  readonly rule?: string;
  readonly database?: string;
  readonly groupLabels?: object;
  readonly minute?: number;
}

/** Alertmanager's notification of a group: an alert for each disk. */
async function group(disks: readonly string[], given: Given = {}): Promise<readonly Alert[]> {
  const { status = 'firing', rule = 'DiskFull', database = 'orders-db', minute = 0 } = given;
  const groupLabels = given.groupLabels ?? { alertname: rule };
  const at = (offset: number) => new Date(Date.UTC(2026, 2, 1, 10, minute + offset)).toISOString();
  const read = await alertSource('alertmanager').read(
    {
      status,
      groupKey: `{}:{${JSON.stringify(groupLabels)}}`,
      groupLabels,
      alerts: disks.map((device, n) => ({
        status,
        labels: { alertname: rule, database, device, instance: `host-${n}:9100`, severity: 'critical' },
        startsAt: at(0),
        endsAt: status === 'resolved' ? at(1) : '0001-01-01T00:00:00Z',
      })),
    },
    { receivedAt: new Date(at(1)) },
  );
  if (!read.ok) throw new Error(`${read.field}: ${read.reason}`);
  return read.alerts;
}

const acceptAll = async (alerts: readonly Alert[]) => {
  const done = [];
  for (const alert of alerts) done.push((await accept(alert)).kind);
  return done;
};
const disks = (n: number) => Array.from({ length: n }, (_, i) => `sd${i}`);

test('fifty alerts of a group on one target are one incident with fifty members, however they arrive [M4]', async () => {
  for (const how of ['together', 'one by one', 'apart']) {
    await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
    const alerts = await group(disks(50));
    if (how === 'together') await Promise.all(alerts.map(accept));
    else if (how === 'one by one') await acceptAll(alerts);
    else {
      const others = createAccept(db.sql, targets, domainOf);
      await Promise.all(alerts.map((alert, n) => (n % 2 === 0 ? accept : others)(alert)));
    }
    expect(await incidents(), how).toMatchObject([
      { target: 'orders-db', members: 50, members_firing: 50, occurrences: 1 },
    ]);
    expect(await db.sql`SELECT FROM alert`).toHaveLength(50);
    expect((await db.turns()).map(({ reason }) => reason)).toEqual(['opened']);
  }
});

test('a group is over when its last member is, and says how many fire until then', async () => {
  await acceptAll(await group(disks(3)));
  await acceptAll(await group(['sd0', 'sd1', 'sd2'].slice(0, 2), { status: 'resolved' }));
  expect(await incidents()).toMatchObject([{ members: 3, members_firing: 1, source_resolved_at: null }]);
  const [, , last] = await group(disks(3), { status: 'resolved' });
  await accept(last as Alert);
  expect(await incidents()).toMatchObject([{ members: 3, members_firing: 0 }]);
  expect((await incidents())[0]?.['source_resolved_at']).not.toBeNull();
});

test('a member that comes and goes is counted once', async () => {
  await acceptAll(await group(disks(3)));
  for (const minute of [10, 20, 30]) {
    const [ended] = await group(['sd0'], { status: 'resolved', minute: minute - 5 });
    await accept(ended as Alert);
    expect(await incidents()).toMatchObject([{ members: 3, members_firing: 2 }]);
    const [again] = await group(['sd0'], { minute });
    await acceptAll([again as Alert, again as Alert]);
    expect(await incidents()).toMatchObject([{ members: 3, members_firing: 3 }]);
  }
  // An end that was said before the last beginning, read late.
  const [late] = await group(['sd0'], { status: 'resolved', minute: 1 });
  expect(await accept(late as Alert)).toMatchObject({ kind: 'orphan_resolved' });
  expect(await incidents()).toMatchObject([{ members: 3, members_firing: 3 }]);
});

test('of a group that is told of for days the first alert is read, and the last', async () => {
  await acceptAll(await group(disks(2)));
  const [incident] = await incidents();
  await db.sql`
    INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at)
    SELECT incident_id, 'again ' || n, source, fingerprint, status, title, labels, annotations, starts_at
      FROM alert, generate_series(1, 2000) AS n WHERE delivery_key = (SELECT delivery_key FROM alert ORDER BY id LIMIT 1)`;
  const record = await createRecords(db.sql).load(asIncidentId(String(incident?.['id'])));
  expect(record?.alerts).toHaveLength(501);
  expect(record?.alerts[0]?.deliveryKey).not.toContain('again');
  expect(record?.alerts.at(-1)?.deliveryKey).toBe('again 2000');
});

test('a member that began later does not keep another from ending', async () => {
  const [first] = await group(['sd0']);
  const [, later] = await group(['sd0', 'sd1'], { minute: 30 });
  await acceptAll([first as Alert, later as Alert]);
  const [ended] = await group(['sd0'], { status: 'resolved' });
  expect(await accept(ended as Alert)).toMatchObject({ kind: 'resolved' });
  expect(await incidents()).toMatchObject([{ members: 2, members_firing: 1, source_resolved_at: null }]);
});

test('what is told again counts for the first of them alone', async () => {
  await acceptAll(await group(disks(3)));
  await acceptAll(await group(disks(3), { minute: 60 }));
  expect(await incidents()).toMatchObject([{ members: 3, occurrences: 2 }]);
});

test.each<[string, Given, Given]>([
  ['two rules', { groupLabels: {} }, { groupLabels: {}, rule: 'DiskSlow' }],
  ['two targets', { groupLabels: {} }, { groupLabels: {}, database: 'users-db' }],
  ['two groups', {}, { groupLabels: { alertname: 'DiskFull', team: 'b' } }],
  ['things that are no targets of ours', { database: 'a' }, { database: 'b' }],
])('%s are two incidents', async (_what, one, two) => {
  await Promise.all([...(await group(['sd0'], one)), ...(await group(['sd7'], two))].map(accept));
  expect(await incidents()).toHaveLength(2);
});

test('what is grouped by a thing that we do not know is one incident; by a rule alone it is as many as there are things', async () => {
  const byThing = { database: 'else', groupLabels: { alertname: 'DiskFull', database: 'else' } };
  await acceptAll(await group(disks(4), byThing));
  expect(await incidents()).toMatchObject([{ members: 4 }]);
  await acceptAll(await group(disks(4), { database: 'else', rule: 'Down' }));
  expect(await incidents()).toHaveLength(5);
});

test('the message of the group joins the incident of its webhook, whichever comes first', async () => {
  const message = {
    attachments: [{ title: '[FIRING:3] DiskFull orders-db (critical)', color: 'danger' }],
  };
  for (const first of ['webhook', 'message']) {
    await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
    if (first === 'message') await accept(slackAlert(message));
    await acceptAll(await group(disks(3)));
    if (first === 'webhook') await accept(slackAlert(message));
    expect(await incidents(), first).toMatchObject([{ members: 3, members_firing: 3 }]);
  }
});

test('a new member of a group that ended just now has its incident go on; later it opens one of its own', async () => {
  const ended = (ago: string) =>
    db.sql`UPDATE incident SET state = 'resolved', ended_at = clock_timestamp() - ${ago}::interval`;
  await acceptAll(await group(['sd0']));
  await ended('29 min');
  const [, other, later] = await group(['sd0', 'sd1', 'sd2']);
  expect(await accept(other as Alert)).toMatchObject({ kind: 'reopened' });
  expect(await incidents()).toMatchObject([{ members: 2, occurrences: 2 }]);
  expect((await db.turns()).map(({ reason }) => reason)).toEqual(['opened', 'fired_again']);
  await db.sql`UPDATE incident SET fired_again_at = NULL`;
  await ended('31 min');
  expect(await accept(later as Alert)).toMatchObject({ kind: 'opened' });
});

test('a new member joins what fires again and has not gone on yet, as under a mute, however long ago it ended', async () => {
  await acceptAll(await group(['sd0']));
  await db.sql`
    UPDATE incident SET state = 'resolved', ended_at = clock_timestamp() - interval '3 hours',
           fired_again_at = clock_timestamp() - interval '2 hours'`;
  const [, ...others] = await group(disks(3));
  expect((await Promise.all(others.map(accept))).map(({ kind }) => kind)).toEqual(['repeated', 'repeated']);
  expect(await incidents()).toMatchObject([{ members: 3 }]);
});

test('several new members of a group that ended just now reopen it once, however they arrive', async () => {
  await acceptAll(await group(['sd0']));
  await db.sql`UPDATE incident SET state = 'resolved', ended_at = clock_timestamp()`;
  const kinds = await Promise.all(
    (await group(disks(20))).slice(1).map(async (one) => (await accept(one)).kind),
  );
  expect(kinds.filter((kind) => kind === 'reopened')).toHaveLength(1);
  expect(await incidents()).toMatchObject([{ members: 20, occurrences: 2 }]);
});

test('a new member of a group of which the first look ignored an alert is looked at', async () => {
  await acceptAll(await group(['sd0']));
  await db.sql`UPDATE incident SET state = 'ignored', ended_at = clock_timestamp()`;
  const [, other] = await group(['sd0', 'sd1']);
  expect(await accept(other as Alert)).toMatchObject({ kind: 'opened' });
});

test('Grafana’s groups are read like Alertmanager’s', async () => {
  const read = await alertSource('grafana').read(
    {
      groupKey: '{}:{alertname="DiskFull"}',
      groupLabels: { alertname: 'DiskFull' },
      alerts: disks(3).map((device) => ({
        status: 'firing',
        fingerprint: device,
        labels: { alertname: 'DiskFull', database: 'orders-db', device },
        startsAt: '2026-03-01T10:00:00Z',
      })),
    },
    { receivedAt: new Date('2026-03-01T10:01:00Z') },
  );
  if (!read.ok) throw new Error(read.reason);
  await Promise.all(read.alerts.map(accept));
  expect(await incidents()).toMatchObject([{ members: 3 }]);
});
