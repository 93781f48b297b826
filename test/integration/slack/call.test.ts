import { afterEach, expect, it } from 'vitest';
import { CHANNELS, ON_CALL_GROUP, USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { createEscalation, type Escalation } from '../../../src/escalation/escalation.ts';
import { mentionOnly } from '../../../src/escalation/ladder.ts';
import type { SlackDeps } from '../../../src/slack/ports.ts';
import { quiet } from '../../support/quiet.ts';
import { eventually, type SceneBot, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { press } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

/** A bot whose people are those of the local Slack, with the rules that hold without a configuration. */
async function calling(): Promise<{ bot: SceneBot; escalation: Escalation }> {
  scene = await slackScene();
  let escalation: Escalation | undefined;
  const through: SlackDeps['escalation'] = {
    take: (id, by) => of().take(id, by),
    assign: (id, to, by) => of().assign(id, to, by),
    pageNow: (id) => of().pageNow(id),
    wrote: (id, by) => of().wrote(id, by),
    pagersAfter: () => [],
    calls: 'never',
    isQuiet: () => false,
  };
  const of = (): Escalation => escalation as Escalation;
  const bot = await scene.bot({ escalation: through });
  const fallback = [{ kind: 'group', name: 'oncall' }] as const;
  escalation = createEscalation({
    sql: scene.sql,
    records: scene.records,
    ladder: mentionOnly(() => fallback),
    pagers: new Map(),
    schedules: new Map(),
    slack: bot.workspace.directory,
    fallback,
    contentOf: () => Promise.reject(new Error('nobody is paged')),
    counted: () => undefined,
    log: quiet,
  });
  return { bot, escalation };
}

async function unsolved(): Promise<IncidentId> {
  const id = await scene.incident();
  await scene.append(id, {
    type: 'state.changed',
    from: 'diagnosing',
    to: 'reported',
    reason: 'nothing to do',
  });
  return id;
}

const callsOf = async (): Promise<readonly Message[]> =>
  (await scene.messages()).filter((message) => message.text.includes(`<!subteam^${ON_CALL_GROUP}>`));

it('the group on call is mentioned once in the thread, and whoever presses has it', async () => {
  const { escalation } = await calling();
  const id = await unsolved();
  await escalation.look(id);
  await escalation.look(id);
  const [call] = await eventually(async () => {
    const found = await callsOf();
    expect(found).toHaveLength(1);
    return found;
  });
  expect(call?.thread_ts).toBeDefined();
  expect(call?.text).toContain('I cannot fix this: it is yours.');
  await press(scene, call as Message, 'sentry_take');
  await eventually(async () => {
    const [root] = await scene.messages();
    expect(JSON.stringify(root)).toContain('Has it: ');
    const [after] = await callsOf();
    expect(JSON.stringify(after?.blocks)).toContain(USERS.onCall);
    expect(JSON.stringify(after?.blocks)).not.toContain('sentry_take');
  });
  expect(await scene.sql`SELECT acknowledged_by, holds FROM escalation WHERE incident_id = ${id}`).toEqual([
    { acknowledged_by: USERS.onCall, holds: true },
  ]);
});

it('whoever writes in the thread is at it', async () => {
  const { escalation } = await calling();
  const id = await unsolved();
  await escalation.look(id);
  const [call] = await eventually(async () => {
    const found = await callsOf();
    expect(found).toHaveLength(1);
    return found;
  });
  await scene.act('message.post', {
    userId: USERS.onCall2,
    channel: CHANNELS.alerts,
    thread_ts: call?.thread_ts ?? '',
    text: 'I look',
  });
  await eventually(async () =>
    expect(await scene.sql`SELECT acknowledged_by, holds FROM escalation WHERE incident_id = ${id}`).toEqual([
      { acknowledged_by: USERS.onCall2, holds: false },
    ]),
  );
});

it('a member is found by the address that a schedule tells, and nobody by another', async () => {
  const { bot } = await calling();
  expect(await bot.workspace.directory.userByEmail('noah@shop.example')).toBe(USERS.onCall2);
  expect(await bot.workspace.directory.userByEmail('nobody@shop.example')).toBeNull();
});
