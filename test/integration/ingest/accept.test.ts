import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Target } from '../../../src/core/target.ts';
import { type Accept, createAccept } from '../../../src/ingest/accept.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { slackAlert, webhookAlert } from '../../support/alerts.ts';
import { domainOf } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';

const targets: readonly Target[] = [
  { name: 'shop-db', kind: 'postgres', domain: 'postgres', environment: 'test', aliases: ['shop'] },
];

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
const eventTypes = async () =>
  (await db.sql<Row>`SELECT type FROM event ORDER BY seq`).map((row) => row['type']);
const reasons = async () => (await db.turns()).map(({ reason }) => reason);
const end = (state: string, ago = '0 s') =>
  db.sql`UPDATE incident SET state = ${state}, ended_at = clock_timestamp() - ${ago}::interval`;

describe('a new alert', () => {
  test('opens an incident of the matched target with its event and its turn', async () => {
    const accepted = await accept(webhookAlert({ instance: 'shop-db:5432' }));
    expect(accepted.kind).toBe('opened');
    expect(await incidents()).toMatchObject([
      {
        id: accepted.incidentId,
        state: 'open',
        target: 'shop-db',
        domain: 'postgres',
        severity: 'critical',
        occurrences: 1,
      },
    ]);
    expect(await eventTypes()).toEqual(['incident.opened']);
    expect(await db.turns()).toEqual([{ incident_id: accepted.incidentId, reason: 'opened' }]);
  });

  test('delivered 32 times at one moment as 32 notifications opens one incident with 32 occurrences', async () => {
    const alerts = Array.from({ length: 32 }, () => webhookAlert({ instance: 'a' }));
    const kinds = (await Promise.all(alerts.map(accept))).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'opened')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'repeated')).toHaveLength(31);
    expect(await incidents()).toMatchObject([{ occurrences: 32 }]);
    expect(await db.sql`SELECT FROM alert`).toHaveLength(32);
    expect(await reasons()).toEqual(['opened']);
  });

  test('delivered 32 times at one moment as the same notification counts once', async () => {
    const alert = webhookAlert({ instance: 'a' });
    const kinds = (await Promise.all(Array.from({ length: 32 }, () => accept(alert)))).map(
      ({ kind }) => kind,
    );
    expect(kinds.toSorted()).toEqual([...Array<string>(31).fill('duplicate'), 'opened']);
    expect(await incidents()).toMatchObject([{ occurrences: 1 }]);
    expect(await db.sql<Row>`SELECT FROM alert`).toHaveLength(1);
  });

  test('of the same name on another instance opens another incident', async () => {
    await accept(webhookAlert({ instance: 'a' }));
    await accept(webhookAlert({ instance: 'b' }));
    expect(await incidents()).toHaveLength(2);
  });

  test('is all or nothing: when its turn cannot be asked for nothing is stored', async () => {
    await db.sql`ALTER TABLE asked_turn ADD CONSTRAINT broken CHECK (reason <> 'opened')`;
    await expect(accept(webhookAlert({ instance: 'a' }))).rejects.toThrow('broken');
    await db.sql`ALTER TABLE asked_turn DROP CONSTRAINT broken`;
    expect(await incidents()).toHaveLength(0);
    expect(await db.sql<Row>`SELECT FROM alert`).toHaveLength(0);
  });
});

describe('an alert of an unfinished incident', () => {
  test('adds an occurrence, keeps the worse severity and asks for no turn', async () => {
    const first = await accept(webhookAlert({ instance: 'a', severity: 'warning' }));
    const again = await accept(webhookAlert({ instance: 'a', severity: 'critical' }));
    expect(again).toEqual({ kind: 'repeated', incidentId: first.incidentId });
    await accept(webhookAlert({ instance: 'a', severity: 'info' }));
    expect(await incidents()).toMatchObject([{ occurrences: 3, severity: 'critical' }]);
    expect(await reasons()).toEqual(['opened']);
  });

  test('that resolves is marked and asks for a turn, once', async () => {
    const { incidentId } = await accept(webhookAlert({ instance: 'a' }));
    expect(await accept(webhookAlert({ instance: 'a' }, { status: 'resolved' }))).toEqual({
      kind: 'resolved',
      incidentId,
    });
    expect(await accept(webhookAlert({ instance: 'a' }, { status: 'resolved' }))).toEqual({
      kind: 'resolved',
      incidentId,
    });
    const [row] = await incidents();
    expect(row?.['source_resolved_at']).not.toBeNull();
    expect(await eventTypes()).toEqual(['incident.opened', 'alert.resolved']);
    expect(await reasons()).toEqual(['opened', 'source_resolved']);
  });

  test('that fires again before the end was acted on takes the end back', async () => {
    await accept(webhookAlert({ instance: 'a' }));
    await accept(webhookAlert({ instance: 'a' }, { status: 'resolved' }));
    expect((await accept(webhookAlert({ instance: 'a' }))).kind).toBe('repeated');
    expect(await incidents()).toMatchObject([{ source_resolved_at: null, occurrences: 2 }]);
    expect(await reasons()).toEqual(['opened', 'source_resolved', 'fired_again']);
  });

  test('is not ended by the end of an earlier occurrence', async () => {
    await accept(webhookAlert({ instance: 'a' }, { startsAt: '2026-03-01T10:00:00Z' }));
    const late = webhookAlert(
      { instance: 'a' },
      { status: 'resolved', startsAt: '2026-03-01T08:00:00Z', endsAt: '2026-03-01T09:00:00Z' },
    );
    expect((await accept(late)).kind).toBe('orphan_resolved');
    expect(await incidents()).toMatchObject([{ source_resolved_at: null }]);
  });
});

describe('an alert of an ended incident', () => {
  test('goes on in the same incident within the window', async () => {
    const { incidentId } = await accept(webhookAlert({ instance: 'a' }));
    await end('resolved', '29 min');
    expect(await accept(webhookAlert({ instance: 'a' }))).toEqual({ kind: 'reopened', incidentId });
    expect((await accept(webhookAlert({ instance: 'a' }))).kind).toBe('repeated');
    const [row, ...more] = await incidents();
    expect(more).toEqual([]);
    expect(row).toMatchObject({ occurrences: 3, state: 'resolved' });
    expect(row?.['fired_again_at']).not.toBeNull();
    expect(await reasons()).toEqual(['opened', 'fired_again']);
  });

  test('opens a new incident after the window', async () => {
    await accept(webhookAlert({ instance: 'a' }));
    await end('resolved', '31 min');
    expect((await accept(webhookAlert({ instance: 'a' }))).kind).toBe('opened');
    expect(await incidents()).toHaveLength(2);
  });

  test('that was ignored counts without any work within the window', async () => {
    await accept(webhookAlert({ instance: 'a' }));
    await end('ignored');
    expect((await accept(webhookAlert({ instance: 'a' }))).kind).toBe('repeated');
    expect(await reasons()).toEqual(['opened']);
  });

  test('does not go on because of a chat message written before its end and read after it', async () => {
    await accept(slackAlert({ text: '[FIRING:1] PostgresBlockedSessions shop-db (critical)' }));
    await end('resolved');
    const late = slackAlert(
      { text: '[FIRING:1] PostgresBlockedSessions shop-db (critical)' },
      new Date(Date.now() - 60_000),
    );
    expect((await accept(late)).kind).toBe('repeated');
    expect(await reasons()).toEqual(['opened']);
  });

  test('is unknown when only its end is told', async () => {
    expect(await accept(webhookAlert({ instance: 'a' }, { status: 'resolved' }))).toEqual({
      kind: 'orphan_resolved',
      incidentId: null,
    });
    expect(await incidents()).toHaveLength(0);
  });
});

describe('a webhook and a chat message about one alert', () => {
  const message = {
    attachments: [{ title: '[FIRING:1] PostgresBlockedSessions (shop-db critical)', color: 'danger' }],
  };
  const webhook = (status: 'firing' | 'resolved' = 'firing') =>
    webhookAlert({ instance: 'shop-db', job: 'postgres' }, { status });

  test('are one incident whichever comes first, and the occurrence counts once', async () => {
    for (const order of [
      [webhook(), slackAlert(message)],
      [slackAlert(message), webhook()],
    ]) {
      await db.sql`TRUNCATE incident, alert, event, alert_end CASCADE`;
      for (const alert of order) await accept(alert);
      expect(await incidents()).toMatchObject([{ occurrences: 1 }]);
      expect(await db.sql<Row>`SELECT FROM alert`).toHaveLength(2);
    }
  });

  test('are one incident when both come at one moment', async () => {
    for (let round = 0; round < 20; round += 1) {
      await db.sql`TRUNCATE incident, alert, event, alert_end CASCADE`;
      await Promise.all([accept(webhook()), accept(slackAlert(message))]);
      expect(await incidents()).toHaveLength(1);
    }
  });

  test('are two incidents when they name different instances', async () => {
    await accept(webhookAlert({ instance: 'other-db', job: 'postgres' }));
    await accept(slackAlert(message));
    expect(await incidents()).toHaveLength(2);
  });

  test('do not let a second instance of the webhook into the incident of a message without labels', async () => {
    await accept(slackAlert({ text: '[FIRING:2] PostgresBlockedSessions (critical)' }));
    await accept(webhookAlert({ instance: 'a' }));
    await accept(webhookAlert({ instance: 'b' }));
    expect(await incidents()).toHaveLength(2);
  });

  test('are over when the one that always says so has, whatever the other one says', async () => {
    const { incidentId } = await accept(webhook());
    await accept(slackAlert(message));
    const over = async () => (await incidents())[0]?.['source_resolved_at'] !== null;
    const ended = {
      attachments: [{ title: '[RESOLVED] PostgresBlockedSessions (shop-db critical)', color: 'good' }],
    };
    const later = new Date(Date.now() + 1000);
    expect(await accept(slackAlert(ended, later))).toEqual({ kind: 'resolved', incidentId });
    // The webhook's alert still fires.
    expect(await over()).toBe(false);
    expect(await reasons()).not.toContain('source_resolved');
    expect(await accept(webhook('resolved'))).toEqual({ kind: 'resolved', incidentId });
    expect(await over()).toBe(true);
    expect(await reasons()).toContain('source_resolved');
  });

  test('are not over while another one that says so still fires, and are when its last word is that it does not', async () => {
    const { incidentId } = await accept(webhook());
    const tells = (status: string) => db.sql`
      INSERT INTO alert_state (incident_id, source, fingerprint, firing) VALUES (${incidentId}, 'alertmanager', 'other', ${status === 'firing'})
      ON CONFLICT (incident_id, source, fingerprint) DO UPDATE SET firing = excluded.firing`;
    const over = async () => (await incidents())[0]?.['source_resolved_at'] !== null;
    await tells('firing');
    expect(await accept(webhook('resolved'))).toEqual({ kind: 'resolved', incidentId });
    expect(await over()).toBe(false);
    expect(await eventTypes()).toContain('alert.resolved');
    await tells('resolved');
    await accept(webhook('resolved'));
    expect(await over()).toBe(true);
  });
});

test('text that PostgreSQL cannot store is stored without what it cannot', async () => {
  await accept(webhookAlert({ instance: 'a\u0000b', note: 'half \ud83d emoji' }));
  expect(await incidents()).toMatchObject([{ labels: { instance: 'ab', note: 'half \ufffd emoji' } }]);
});

describe('a storm', () => {
  test('of new, repeated, ended and doubled alerts at one moment gives each its own answer', async () => {
    const known = await accept(webhookAlert({ instance: 'known' }));
    const twice = webhookAlert({ instance: 'twice' });
    const results = await Promise.all(
      [
        webhookAlert({ instance: 'new-1' }),
        webhookAlert({ instance: 'known' }),
        twice,
        webhookAlert({ instance: 'nobody' }, { status: 'resolved' }),
        twice,
        webhookAlert({ instance: 'known' }, { status: 'resolved' }),
        webhookAlert({ instance: 'new-2' }),
      ].map(accept),
    );
    expect(results.map(({ kind }) => kind)).toEqual([
      'opened',
      'repeated',
      'opened',
      'orphan_resolved',
      'duplicate',
      'resolved',
      'opened',
    ]);
    expect(results[1]?.incidentId).toBe(known.incidentId);
    expect(results[5]?.incidentId).toBe(known.incidentId);
    expect(results[4]?.incidentId).toBe(results[2]?.incidentId);
    const rows = await db.sql<Row>`SELECT i.labels->>'instance' AS instance, a.labels->>'instance' AS of_alert
                              FROM alert a JOIN incident i ON i.id = a.incident_id`;
    expect(rows.every((row) => row['instance'] === row['of_alert'])).toBe(true);
  });

  test('through two processes loses nothing, doubles nothing and ends', async () => {
    // Two batchers on one database, as two bots would be; the same new problems in opposite orders.
    const other = createAccept(db.sql, targets, domainOf);
    const alerts = Array.from({ length: 400 }, (_, n) => webhookAlert({ instance: `host-${n % 40}` }));
    const kinds = await Promise.all([
      ...alerts.map(async (alert) => (await accept(alert)).kind),
      ...alerts.toReversed().map(async (alert) => (await other(alert)).kind),
    ]);
    const count = (kind: string) => kinds.filter((one) => one === kind).length;
    expect([count('opened'), count('repeated'), count('duplicate')]).toEqual([40, 360, 400]);
    const rows =
      await db.sql<Row>`SELECT i.occurrences, count(*) AS alerts FROM incident i JOIN alert a ON a.incident_id = i.id GROUP BY i.id`;
    expect(rows).toHaveLength(40);
    expect(rows.every((row) => row['occurrences'] === 10 && row['alerts'] === 10)).toBe(true);
    expect(await reasons()).toHaveLength(40);
  });
});
