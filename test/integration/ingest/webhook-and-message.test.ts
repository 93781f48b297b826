import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import { type Accept, createAccept, createAcceptIn } from '../../../src/ingest/accept.ts';
import { alertSource } from '../../../src/sources/registry.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { slackAlert } from '../../support/alerts.ts';
import { ofOneFingerprint, ofOneName } from '../../support/linked-messages.ts';
import { domainOf } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';

let db: AcceptDatabase;
let accept: Accept;
beforeAll(async () => {
  db = await acceptDatabase(16);
  accept = createAccept(db.sql, [], domainOf);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
});

const acceptIn = createAcceptIn([], domainOf);
const incidents = () => db.sql<Row>`SELECT * FROM incident`;

async function webhook(source: string, payload: unknown): Promise<Alert> {
  const read = await alertSource(source).read(payload, { receivedAt: new Date() });
  if (!read.ok || !read.alerts[0]) throw new Error(JSON.stringify(read));
  return read.alerts[0];
}

describe.each(Object.entries({ ...ofOneFingerprint, ...ofOneName }))(
  'the webhook and the Slack message of %s',
  (source, { webhook: payloads, firing, resolved }) => {
    test.each(['webhook', 'message', 'neither'])('are one incident when %s comes first', async (first) => {
      const told = await webhook(source, payloads.firing);
      const said = slackAlert(firing);
      if (first === 'neither') await Promise.all([accept(told), accept(said)]);
      else for (const alert of first === 'webhook' ? [told, said] : [said, told]) await accept(alert);
      expect(await incidents()).toMatchObject([{ occurrences: 1, source_resolved_at: null }]);
      expect((await accept(slackAlert(resolved))).kind).toBe('resolved');
      expect((await accept(await webhook(source, payloads.resolved))).kind).toBe('resolved');
      expect(await incidents()).toMatchObject([{ source_resolved_at: expect.any(String) }]);
    });

    test.each(['webhook', 'message'])(
      'are one incident when %s fired again hours ago, and its incident has not gone on yet',
      async (first) => {
        const told = await webhook(source, payloads.firing);
        const said = slackAlert(firing);
        await accept(first === 'webhook' ? told : said);
        await db.sql`
        UPDATE incident SET state = 'resolved', ended_at = clock_timestamp() - interval '3 hours',
               fired_again_at = clock_timestamp() - interval '2 hours'`;
        // With another one at the same moment, so that they are taken in together.
        const other = await webhook(source, payloads.otherThing);
        const batch = [first === 'webhook' ? said : told, other];
        expect(await db.sql.begin((tx) => acceptIn(tx, batch))).toMatchObject([
          { kind: 'repeated' },
          { kind: 'opened' },
        ]);
      },
    );

    test('are two incidents when they are about different things', async () => {
      await accept(await webhook(source, payloads.otherThing));
      await accept(slackAlert(firing));
      expect(await incidents()).toHaveLength(2);
    });

    test('end with the message where no webhook is sent', async () => {
      await accept(slackAlert(firing));
      expect((await accept(slackAlert(resolved))).kind).toBe('resolved');
      expect(await incidents()).toMatchObject([{ source_resolved_at: expect.any(String) }]);
    });
  },
);
