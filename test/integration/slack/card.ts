import { expect } from 'vitest';
import { SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { Ephemeral, Message, View } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { SlackConnection } from '../../../src/slack/ports.ts';
import { wholeIncident } from '../../support/incident-record.ts';
import { eventually, type SceneBot, type SlackScene } from '../../support/slack-scene.ts';

export const httpConnection = (scene: SlackScene): SlackConnection => ({
  kind: 'http',
  botToken: SENTRY_APP.botToken,
  signingSecret: SENTRY_APP.signingSecret,
  apiUrl: scene.slack.apiUrl,
});

/** A bot reached the given way, and a thread whose approval card waits. */
export async function waitingCard(
  scene: SlackScene,
  mode: 'socket' | 'http' = 'socket',
): Promise<{ bot: SceneBot; id: IncidentId; card: Message }> {
  const bot = await scene.bot(mode === 'http' ? { connection: httpConnection(scene) } : {});
  if (mode === 'http') await scene.control('events-url', { url: bot.eventsUrl, verify: true });
  const id = await scene.incident(wholeIncident.slice(1, 9));
  await scene.propose(id);
  const card = await eventually(() => cardOf(scene));
  return { bot, id, card };
}

export async function cardOf(from: SlackScene): Promise<Message> {
  const card = (await from.messages()).find((message) => message.blocks?.[0]?.block_id?.includes('action:'));
  expect(card).toBeDefined();
  return card as Message;
}

const blockWith = (message: Message, action: string): string =>
  message.blocks?.find((block) => JSON.stringify(block).includes(`"${action}"`))?.block_id ?? '';

export const press = (scene: SlackScene, message: Message, action: string, userId: string = USERS.onCall) =>
  scene.act('block.action', {
    userId,
    container: { type: 'message', channel: message.channel, ts: message.ts },
    block_id: blockWith(message, action),
    action_id: action,
    input: { kind: 'press' },
  });

/**
 * Presses until a window stands, as a person does: the button may not be drawn yet, and a press dies after three seconds, of
 * which a loaded machine takes more.
 */
export async function openWindow(
  scene: SlackScene,
  find: () => Promise<Message>,
  action: string,
  userId: string = USERS.onCall,
): Promise<View> {
  return eventually(async () => {
    expect(await press(scene, await find(), action, userId)).toMatchObject({ ok: true });
    return eventually(async () => {
      const [open] = await scene.views(userId);
      expect(open).toBeDefined();
      return open!;
    }, 4_000);
  });
}

export async function whispers(scene: SlackScene, userId: string): Promise<readonly string[]> {
  const answer = (await scene.control('snapshot', {})) as {
    readonly snapshot: { readonly ephemerals: readonly Ephemeral[] };
  };
  return answer.snapshot.ephemerals
    .filter((each) => each.userId === userId)
    .map((each) => `${each.message.text} ${JSON.stringify(each.message.blocks ?? [])}`);
}
