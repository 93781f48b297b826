import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Accept, createAccept } from '../../../src/ingest/accept.ts';
import { alertSource } from '../../../src/sources/registry.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { slackAlert, webhookAlert } from '../../support/alerts.ts';
import { domainOf } from '../../support/targets.ts';

let db: AcceptDatabase;
let accept: Accept;
beforeAll(async () => {
  db = await acceptDatabase();
  accept = createAccept(db.sql, [], domainOf);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
});

const isOver = async () => {
  const rows = await db.sql<{ over: boolean }>`SELECT source_resolved_at IS NOT NULL AS over FROM incident`;
  return rows.map(({ over }) => over);
};
const post = (bot: string, text: string) => accept(slackAlert({ bot_id: bot, text }));

describe('what a message in an alert channel ends [V5]', () => {
  test.each([
    ['[FIRING:1] DiskFull (db-1)', '[RESOLVED] DiskFull (db-1)'],
    ['Checkout is down', 'RESOLVED: Checkout is down'],
    [
      'Incident: <https://acme.pagerduty.com/incidents/Q1ABCDEF|Disk full>',
      'Resolved: <https://acme.pagerduty.com/incidents/Q1ABCDEF|Disk full>',
    ],
  ])('%s: its own app does, and no other', async (begins, ends) => {
    await post('BMONITOR', begins);
    expect(await post('BISSUES', ends)).toMatchObject({ kind: 'resolved' });
    expect(await isOver()).toEqual([false]);
    await post('BMONITOR', ends);
    expect(await isOver()).toEqual([true]);
  });

  test('an app that has told of it as well', async () => {
    await post('BMONITOR', '[FIRING:1] DiskFull (db-1)');
    await post('BPAGER', '[FIRING:1] DiskFull (db-1)');
    await post('BPAGER', '[RESOLVED] DiskFull (db-1)');
    expect(await isOver()).toEqual([true]);
  });

  test('an edit of the message that began it', async () => {
    const ts = `${Math.floor(Date.now() / 1000) - 60}.000100`;
    await accept(slackAlert({ bot_id: 'BMONITOR', text: 'Checkout is down', ts }));
    const edited = await alertSource('slack').read(
      {
        channel: 'C0ALERTS',
        ts,
        subtype: 'message_changed',
        message: {
          bot_id: 'BMONITOR',
          ts,
          text: 'RESOLVED: Checkout is down',
          edited: { ts: `${Math.floor(Date.now() / 1000)}.000200` },
        },
      },
      { receivedAt: new Date() },
    );
    for (const alert of edited.ok ? edited.alerts : []) await accept(alert);
    expect(await isOver()).toEqual([true]);
  });

  test('nothing that a webhook began, and a message that does not tell whose it was as before', async () => {
    await accept(webhookAlert({ alertname: 'DiskFull', instance: 'db-1' }));
    await post('BISSUES', '[RESOLVED] DiskFull (db-1)');
    expect(await isOver()).toEqual([false]);

    await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
    await post('BMONITOR', 'Checkout is down');
    await db.sql`UPDATE alert SET annotations = annotations - 'posted_by'`;
    await post('BMONITOR', 'RESOLVED: Checkout is down');
    expect(await isOver()).toEqual([true]);
  });
});
