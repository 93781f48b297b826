import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { recordSlackChanges } from '../../../src/app/slack-changes.ts';
import { changesAround } from '../../../src/changes/read-changes.ts';
import { createRecords } from '../../../src/record/record.ts';
import { slackMessage } from '../../../src/sources/slack-message/index.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { quiet } from '../../support/quiet.ts';

let db: AcceptDatabase;
beforeAll(async () => {
  db = await acceptDatabase(4);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE change`;
});

type Deps = Parameters<typeof recordSlackChanges>[0];
type Sight = Awaited<ReturnType<Deps['slackWorkspace']['access']['sightOf']>>;

/** What of the workspace is asked: who sees the channel, who somebody is, where a message is. */
function workspace(sight: Sight): Deps['slackWorkspace'] {
  return {
    access: { sightOf: async () => sight },
    directory: { name: async (id: string) => (id === 'U0OLIVIA' ? '@olivia' : id) },
    own: () => ({ botId: 'B0SENTRY', userId: 'U0SENTRY' }),
    identity: () => ({ teamUrl: 'https://acme.slack.com/' }),
  } as unknown as Deps['slackWorkspace'];
}

async function post(text: string, sight: Sight, ts = '1772366280.000100', more: object = {}, alerts = false) {
  const message = { type: 'message', channel: 'C0DEPLOYS', bot_id: 'B0CI', ts, text, ...more };
  const read = slackMessage.read(message, { receivedAt: new Date(0) });
  const targets = new Map([['shop-api', { name: 'shop-api', aliases: [] }]]) as unknown as Deps['targets'];
  const deps = {
    sql: db.sql,
    records: createRecords(db.sql),
    slackWorkspace: workspace(sight),
    targets,
    log: quiet,
  };
  await recordSlackChanges(deps, message, (read.ok && read.changes) || [], alerts);
}
const known = () =>
  changesAround(db.sql, { where: null, from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' });
const text = '<@U0OLIVIA> deployed shop-api 1.4.2 to production';
const link = 'https://acme.slack.com/archives/C0DEPLOYS/p1772366280000100';

test('what everybody may read is kept whole: who did it by name, and a link to where it was said', async () => {
  await post(text, 'public');
  expect(await known()).toMatchObject([
    { title: 'shop-api 1.4.2 deployed in production', by: 'olivia', to: '1.4.2', url: link },
  ]);
});

test.each<Sight>(['private', 'unknown'])(
  'of a channel that is %s only that a known system was changed is kept, and where to read more',
  async (sight) => {
    await post(text, sight);
    const changes = await known();
    expect(changes).toMatchObject([
      { title: 'shop-api was changed, as told in a private channel', by: null, to: null, url: link },
    ]);
    const [row] = await db.sql<{ all: string }>`SELECT json_agg(c)::text AS all FROM change c`;
    expect(row?.all).not.toMatch(/1\.4\.2|olivia/i);
  },
);

test('of a private channel what no system is called is not kept at all', async () => {
  await post('olivia deployed project-falcon to production', 'private');
  expect(await known()).toEqual([]);
});

test('a start and its end are one change, in a private channel too', async () => {
  for (const sight of ['public', 'private'] as const) {
    await db.sql`TRUNCATE change`;
    await post('shop-api is being deployed to production', sight);
    await post('shop-api was deployed to production', sight, '1772366400.000100');
    expect(await known()).toMatchObject([
      { state: 'succeeded', startedAt: '2026-03-01T11:58:00.000Z', at: '2026-03-01T12:00:00.000Z' },
    ]);
  }
});

test('what another app says in the same shape is another change', async () => {
  const github = (text: string) => ({
    attachments: [{ text, footer: '<https://github.com/acme/shop-api|acme/shop-api>' }],
  });
  await post('', 'public', '1772366280.000100', {
    app_id: 'A0GITHUB',
    ...github('Successfully deployed 4f2a91c'),
  });
  await post('', 'public', '1772366340.000100', {
    app_id: 'A0OTHER',
    ...github('Error when deploying 4f2a91c'),
  });
  expect((await known()).map(({ state }) => state)).toEqual(['failed', 'succeeded']);
});

test('where people of another company post, a change counts in an alert channel alone', async () => {
  for (const sight of ['shared', 'closed'] as const) {
    await db.sql`TRUNCATE change`;
    await post(text, sight);
    expect(await known()).toEqual([]);
    await post(text, sight, '1772366280.000100', {}, true);
    expect(await known()).toHaveLength(1);
  }
});
