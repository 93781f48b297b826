import { afterEach, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { createMutes } from '../../../src/incidents/mutes/mutes.ts';
import { createAuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { MANY } from '../../../src/slack/outbound/burst.ts';
import { isIdentifying } from '../../../src/sources/fingerprint.ts';
import { textOf } from '../../support/local-slack.ts';
import { quiet } from '../../support/quiet.ts';
import { type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { waitFor } from '../../support/wait-for.ts';
import { whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

it('what is muted has no thread and no digest until it ends; one line tells of the begin, one of the end [C7]', async () => {
  scene = await slackScene();
  const { sql, records } = scene;
  const mutes = createMutes({
    sql,
    records,
    audit: createAuditLog(sql),
    isAdmin: async () => false,
    isIdentifying,
    isPublic: async () => true,
    windows: () => [],
    log: quiet,
  });
  const bot = () =>
    scene.bot({
      mutes,
      commands: {
        mute: async ({ text, by }) => {
          const answer = await mutes.mute(text, by);
          return answer.ok ? answer.text : answer.reason;
        },
        mutes: async () => (await mutes.lines()).join('\n'),
      },
    });
  await Promise.all([bot(), bot()]);
  const run = (text: string) =>
    scene.act('command.run', { userId: USERS.onCall, channel: CHANNELS.alerts, text: `/sentry ${text}` });
  const answered = (says: string) =>
    waitFor(says, async () => (await whispers(scene, USERS.onCall)).at(-1)?.includes(says));
  const texts = async () => (await scene.messages()).map(textOf);
  const said = (says: string) =>
    waitFor(says, async () => (await texts()).some((text) => text.includes(says)));

  const before = await scene.incident();
  await said(before);
  await run('mute {} 2h');
  await answered('every alert');
  await run('mute title=~"shop.*", severity="critical" 2h <!channel> *go*');
  await answered('/sentry mute confirm');
  await run('mute confirm title=~"shop.*", severity="critical" 2h <!channel> *go*');
  await answered('Muted until');
  await said('Muted by');

  const ids: IncidentId[] = [];
  for (let n = 0; n < MANY + 5; n += 1) ids.push(await scene.incident());
  await waitFor('all to be muted', async () => {
    const rows = await sql`SELECT FROM incident WHERE muted_by IS NOT NULL`;
    return rows.length === ids.length;
  });
  await run('mutes');
  await answered(`of ${ids.length} incidents`);
  const [mute] = await sql<{ id: string }>`SELECT id FROM mute`;
  await mutes.unmute(mute?.id ?? '', USERS.onCall);
  await said('No longer muted');
  const quietly = await texts();
  expect(quietly.filter((text) => ids.some((id) => text.includes(`${id} `)))).toEqual([]);
  expect(quietly.filter((text) => text.includes('opened at once'))).toEqual([]);
  expect(quietly.filter((text) => text.includes('Muted by'))).toHaveLength(1);
  expect(quietly.filter((text) => text.includes('No longer muted'))).toHaveLength(1);
  expect(JSON.stringify(await scene.messages())).not.toMatch(/"text":"[^"]*<!channel>[^"]*","ts/);
  const raw = (await scene.messages()).map(({ text }) => text ?? '');
  expect(raw.filter((text) => text.includes('<!channel>') || /<@U/.test(text))).toEqual([]);

  const [first] = ids;
  if (!first) throw new Error('no incident');
  await mutes.release(first);
  await said(first);
  expect((await records.load(before))?.incident.mutedBy).toBeNull();
});
