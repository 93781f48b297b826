import { afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { PageFrame } from '../../../playground/slack/page-api.ts';
import { SENTRY_APP } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { ACTIONS } from '../../../src/slack/views/blocks/slot.ts';
import { type Overrun, overruns, type Weight, weigh } from '../../support/budget.ts';
import { ACTION, wholeIncident } from '../../support/incident-record.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { cardOf, press } from './card.ts';

let scene: SlackScene;
let recorder: Recorder | undefined;
afterEach(async () => {
  recorder?.close();
  await scene.close();
});

/** The thread as people saw it after every call of the bot's, post or edit, in order. */
interface Recorder {
  readonly moments: readonly (readonly Weight[])[];
  /** By slot, the worst that stood there at any time. */
  worst(): ReadonlyMap<string, Overrun>;
  close(): void;
}

async function recordThread(url: string): Promise<Recorder> {
  const messages = new Map<string, Message>();
  const moments: (readonly Weight[])[] = [];
  const worst = new Map<string, Overrun>();
  const look = (): void => {
    const thread = [...messages.values()].flatMap((message) => {
      const slot = slotOf(message);
      return slot === null ? [] : [{ message, ...weigh(slot, message) }];
    });
    moments.push(thread);
    const open = new Set(
      thread
        .filter(({ message }) => JSON.stringify(message.blocks).includes(`"${ACTIONS.approve}"`))
        .map(({ slot }) => slot),
    );
    for (const each of overruns(thread, { isWorking: true, open }))
      if (each.is > (worst.get(each.what)?.is ?? -1)) worst.set(each.what, each);
  };
  const socket = new WebSocket(`${url.replace('http', 'ws')}/page/ws`);
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as PageFrame;
    if (frame.type === 'message_deleted') messages.delete(frame.ts);
    if (frame.type !== 'message' || frame.message.bot_id !== SENTRY_APP.botId) return;
    messages.set(frame.message.ts, frame.message);
    look();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('message', () => resolve());
    socket.once('error', reject);
  });
  return { moments, worst: () => worst, close: () => socket.close() };
}

/** Which of an incident's messages it is, as its first block is marked. */
const slotOf = (message: Message): string | null =>
  /^sentry:INC-\d+:(.+):[0-9a-f]{8}$/.exec(message.blocks?.[0]?.block_id ?? '')?.[1] ?? null;

const slotsShown = (): readonly string[] => (recorder?.moments.at(-1) ?? []).map(({ slot }) => slot);

async function play(id: IncidentId): Promise<void> {
  const at = wholeIncident.findIndex(({ type }) => type === 'action.proposed');
  for (const event of wholeIncident.slice(1, at)) {
    await scene.append(id, event);
    if (event.type === 'tool.called')
      await eventually(() => expect(slotsShown()).toEqual(['root', 'live:1']));
  }
  await scene.propose(id);
  await eventually(() => expect(slotsShown()).toContain(`action:${ACTION}`));
  expect(await press(scene, await cardOf(scene), ACTIONS.approve)).toEqual({ ok: true });
  await eventually(() => expect(scene.decisions).toHaveLength(1));
  for (const event of wholeIncident.slice(at + 3)) await scene.append(id, event);
  await eventually(() => expect(slotsShown()).toContain('summary:1'));
}

it('of a real incident, nobody ever saw more than the budget, after any post or edit', async () => {
  scene = await slackScene();
  recorder = await recordThread(scene.slack.url);
  await scene.bot();
  await play(await scene.incident());
  expect(recorder.moments.length).toBeGreaterThan(5);
  expect(Object.fromEntries(recorder.worst())).toEqual({});
});
