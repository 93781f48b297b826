import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import type { Target } from '../../../src/core/target.ts';
import { type Accept, createAccept } from '../../../src/ingest/accept.ts';
import { alertSource } from '../../../src/sources/registry.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { slackAlert } from '../../support/alerts.ts';
import { domainOf } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';

const targets: readonly Target[] = [
  { name: 'orders-db', kind: 'postgres', domain: 'postgres', environment: 'test', aliases: [] },
];

let db: AcceptDatabase;
let accept: Accept;
let other: Accept;
beforeAll(async () => {
  db = await acceptDatabase(16);
  accept = createAccept(db.sql, targets, domainOf);
  other = createAccept(db.sql, targets, domainOf);
});
afterAll(() => db.close());
beforeEach(empty);

async function empty(): Promise<void> {
  await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
}

const incidents = () => db.sql<Row>`SELECT * FROM incident ORDER BY opened_at`;
const dayAgo = Date.now() - 86_400_000;
const at = (minute: number): string => new Date(dayAgo + minute * 60_000).toISOString();
let deliveries = 0;

interface Said {
  readonly status: 'firing' | 'resolved';
  /** Minutes at which it began and ended. */
  readonly from?: number;
  readonly to?: number;
  readonly rule?: string;
  readonly device?: string;
  readonly source?: 'alertmanager' | 'grafana';
}

/** One alert as Alertmanager and Grafana send it; each call is a delivery of its own. */
async function said({ status, from = 0, to = from + 5, ...what }: Said): Promise<Alert> {
  const { rule = 'DiskFull', device = 'sda', source = 'alertmanager' } = what;
  deliveries += 1;
  const groupLabels = { alertname: rule, database: 'orders-db' };
  const read = await alertSource(source).read(
    {
      receiver: 'sentry',
      status,
      groupKey: `{}:${JSON.stringify(groupLabels)}`,
      groupLabels,
      commonLabels: groupLabels,
      alerts: [
        {
          status,
          labels: { ...groupLabels, device },
          annotations: { summary: 'It is full.' },
          startsAt: at(from),
          endsAt: status === 'resolved' ? at(to) : '0001-01-01T00:00:00Z',
          fingerprint: device.slice(-1).repeat(16),
        },
      ],
    },
    { receivedAt: new Date(dayAgo + deliveries * 3_600_000) },
  );
  if (!read.ok || !read.alerts[0]) throw new Error(JSON.stringify(read));
  return read.alerts[0];
}
const fires = (what: Omit<Said, 'status'> = {}) => said({ ...what, status: 'firing' });
const ends = (what: Omit<Said, 'status'> = {}) => said({ ...what, status: 'resolved' });

/** What turns do of it: what its source calls over ends, and what fired again goes on. */
async function work(): Promise<void> {
  await db.sql`
    UPDATE incident SET state = 'diagnosing', ended_at = NULL, source_resolved_at = NULL
     WHERE state = 'resolved' AND fired_again_at > ended_at`;
  await db.sql`
    UPDATE incident SET state = 'resolved', ended_at = clock_timestamp()
     WHERE state NOT IN ('ignored', 'resolved') AND source_resolved_at IS NOT NULL`;
}

describe.each(['alertmanager', 'grafana'] as const)(
  'an end of %s that comes before its beginning',
  (source) => {
    test('closes it: one record, over from the start', async () => {
      expect(await accept(await ends({ source }))).toMatchObject({ kind: 'orphan_resolved' });
      expect(await accept(await fires({ source }))).toMatchObject({ kind: 'opened' });
      expect(await incidents()).toMatchObject([
        { occurrences: 1, members_firing: 0, source_resolved_at: expect.any(String) },
      ]);
      const events = await db.sql<Row>`SELECT type FROM event ORDER BY seq`;
      expect(events.map(({ type }) => type)).toEqual(['incident.opened', 'alert.resolved']);
      await work();
      expect(await accept(await fires({ source }))).toMatchObject({ kind: 'repeated' });
      expect(await accept(await ends({ source }))).toMatchObject({ kind: 'resolved' });
      await work();
      expect(await incidents()).toMatchObject([{ state: 'resolved', occurrences: 1, fired_again_at: null }]);
    });

    test('closes no later one', async () => {
      await accept(await ends({ source }));
      expect(await accept(await fires({ source, from: 6 }))).toMatchObject({ kind: 'opened' });
      expect(await incidents()).toMatchObject([{ source_resolved_at: null, members_firing: 1 }]);
    });
  },
);

test('a notification of its beginning that comes late does not take its end back', async () => {
  await accept(await fires());
  await accept(await ends());
  expect(await accept(await fires())).toMatchObject({ kind: 'repeated' });
  expect(await incidents()).toMatchObject([{ occurrences: 1, source_resolved_at: expect.any(String) }]);
  await work();
  await db.sql`UPDATE incident SET ended_at = clock_timestamp() - interval '5 hours'`;
  // Later than an incident goes on, and yet of that one.
  expect(await accept(await fires())).toMatchObject({ kind: 'repeated' });
  expect(await incidents()).toHaveLength(1);
  const [last] = await db.sql<Row>`SELECT body FROM event ORDER BY seq DESC LIMIT 1`;
  expect(last).toMatchObject({ body: { over: true } });
});

test('of a group each alert has its own end, known or not', async () => {
  await accept(await ends({ device: 'sdb' }));
  await accept(await fires({ device: 'sda' }));
  await accept(await fires({ device: 'sdb' }));
  expect(await incidents()).toMatchObject([{ members: 2, members_firing: 1, source_resolved_at: null }]);
  await accept(await ends({ device: 'sda' }));
  expect(await incidents()).toMatchObject([{ members_firing: 0, source_resolved_at: expect.any(String) }]);
});

test('an end of tomorrow silences nothing that begins after it was told', async () => {
  await accept(await ends({ to: 60 * 48 }));
  expect(await accept(await fires({ from: 60 * 24 + 5 }))).toMatchObject({ kind: 'opened' });
  expect(await incidents()).toMatchObject([{ source_resolved_at: null }]);
});

test('of messages in Slack the order of arrival counts', async () => {
  const message = (word: string, when: Date) =>
    slackAlert({ bot_id: 'BMONITOR', text: `[${word}] DiskFull (db-1)` }, when);
  await accept(message('RESOLVED', new Date()));
  await accept(message('FIRING:1', new Date(Date.now() - 60_000)));
  expect(await incidents()).toMatchObject([{ source_resolved_at: null }]);
});

test('ends are kept for a day, the newest of each alert, and no more than 20,000 of them', async () => {
  await accept(await ends());
  await accept(await ends());
  expect(await db.sql`SELECT FROM alert_end`).toHaveLength(1);
  await db.sql`UPDATE alert_end SET told_at = told_at - interval '25 hours'`;
  await accept(await ends({ device: 'sdb' }));
  expect(await db.sql`SELECT FROM alert_end`).toHaveLength(1);

  await db.sql`
    INSERT INTO alert_end (source, fingerprint, ends_at) SELECT 'alertmanager', 'f' || k, now() FROM generate_series(1, 20100) AS k`;
  for (const device of ['sda', 'sdb', 'sda', 'sdb']) await accept(await ends({ device }));
  // Three at a time: what one end adds, another takes away.
  expect((await db.sql`SELECT FROM alert_end`).length).toBeLessThanOrEqual(20_102 - 3 * 3);
});

test('both at one moment, through two processes, leave nothing open', async () => {
  for (let round = 0; round < 20; round += 1) {
    await empty();
    const [first, last] = [await fires(), await ends()];
    await Promise.all(round % 2 === 0 ? [accept(first), other(last)] : [other(last), accept(first)]);
    expect(await incidents(), `round ${round}`).toMatchObject([{ source_resolved_at: expect.any(String) }]);
  }
});

interface Occurrence {
  readonly rule: string;
  readonly device: string;
  readonly nth: number;
}
const occurrences = fc.uniqueArray(
  fc.record<Occurrence>({
    rule: fc.constantFrom('DiskFull', 'DiskSlow'),
    device: fc.constantFrom('sda', 'sdb', 'sdc'),
    nth: fc.integer({ min: 0, max: 2 }),
  }),
  { minLength: 1, maxLength: 6, selector: (one) => JSON.stringify(one) },
);
const nameOf = ({ rule, device }: Pick<Occurrence, 'rule' | 'device'>): string => `${rule} ${device}`;

test('in any order, with repetitions: what was told to end is over, what was not is open, and two things never meet', async () => {
  const told = fc
    .tuple(occurrences, fc.constantFrom('DiskFull sda', 'DiskSlow sdb', 'none'))
    .chain(([all, endless]) => {
      const last = all
        .filter((one) => nameOf(one) === endless)
        .reduce((max, { nth }) => Math.max(max, nth), -1);
      const each = all.flatMap(({ nth, ...what }) => {
        const when = { ...what, from: nth * 10, to: nth * 10 + 5 };
        const isOpen = nameOf(what) === endless && nth === last;
        return [
          { ...when, status: 'firing' as const },
          ...(isOpen ? [] : [{ ...when, status: 'resolved' as const }]),
        ];
      });
      // Every delivery twice, and in between the work that turns do.
      const twice = [...each, ...each];
      const length = { minLength: twice.length, maxLength: twice.length };
      return fc.record({
        open: fc.constant(last < 0 ? [] : [endless]),
        deliveries: fc.shuffledSubarray(twice, length),
        works: fc.array(fc.boolean(), length),
      });
    });
  await fc.assert(
    fc.asyncProperty(told, async ({ open, deliveries: all, works }) => {
      await empty();
      for (const [n, each] of all.entries()) {
        await accept(await said(each));
        if (works[n]) await work();
      }
      await work();
      await work();
      const firing = await db.sql<{ what: string }>`
        SELECT DISTINCT a.labels->>'alertname' || ' ' || (a.labels->>'device') AS what
          FROM alert_state s JOIN incident i ON i.id = s.incident_id AND i.state <> 'resolved'
          JOIN alert a ON a.incident_id = s.incident_id AND a.source = s.source AND a.fingerprint = s.fingerprint
         WHERE s.firing`;
      expect(firing.map(({ what }) => what)).toEqual(open);
      expect(await db.sql`SELECT FROM incident WHERE state <> 'resolved'`).toHaveLength(open.length);
      const mixed = await db.sql`
        SELECT incident_id FROM alert GROUP BY incident_id HAVING count(DISTINCT labels->>'alertname') > 1`;
      expect(mixed).toEqual([]);
    }),
    { numRuns: 60 },
  );
}, 120_000);
