import { afterEach, describe, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import type { View } from '../../../playground/slack/slack-shapes.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { ACTIONS } from '../../../src/slack/views/blocks/slot.ts';
import { HOME } from '../../../src/slack/views/home.ts';
import type { HomeFacts } from '../../../src/slack/views/home-facts.ts';
import { REPORT_TARGET, REPORT_TEXT } from '../../../src/slack/views/home-windows.ts';
import { wholeIncident } from '../../support/incident-record.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { noHome, noMemory } from '../../support/slack-services.ts';
import { cardOf, press } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

const admins = { ...noMemory, isAdmin: async (userId: string) => userId === USERS.admin };
const home = (changes: (userId: string) => Partial<HomeFacts> = () => ({})) => ({
  ...noHome,
  facts: async ({ userId, ...reader }: Parameters<typeof noHome.facts>[0]): Promise<HomeFacts> => ({
    ...(await noHome.facts({ userId, ...reader })),
    isAdmin: userId === USERS.admin,
    state: [`Stopped by <@${USERS.admin}> (everything).`],
    ...changes(userId),
  }),
});

const viewOf = async (userId: string): Promise<View | undefined> => {
  const { snapshot } = (await scene.control('snapshot', {})) as {
    readonly snapshot: { readonly homes: Readonly<Record<string, View>> };
  };
  return snapshot.homes[userId];
};

async function homeOf(userId: string): Promise<string> {
  await scene.act('home.open', { userId });
  return eventually(async () => {
    const view = await viewOf(userId);
    expect(view).toBeDefined();
    return JSON.stringify(view);
  });
}

async function pressHome(action: string, userId: string): Promise<void> {
  const view = await viewOf(userId);
  const block = view?.blocks.find((each) => JSON.stringify(each).includes(`"${action}"`));
  if (!view || !block?.block_id) throw new Error(`Home has no button ${action}`);
  const pressed = await scene.act('block.action', {
    userId,
    container: { type: 'view', viewId: view.id },
    block_id: block.block_id,
    action_id: action,
    input: { kind: 'press' },
  });
  expect(pressed).toMatchObject({ ok: true });
}

/** Presses until its window stands, as a person does: a press dies after three seconds. */
const windowAfter = (action: string, userId: string, words: string): Promise<View> =>
  eventually(async () => {
    await pressHome(action, userId);
    return eventually(async () => {
      const view = (await scene.views(userId)).at(-1);
      expect(JSON.stringify(view)).toContain(words);
      return view as View;
    });
  });

it('Home shows a person what they may read: nothing of a channel they are not in, and what is for admins to admins', async () => {
  scene = await slackScene();
  const asked: string[][] = [];
  // Before there is a bot, which would begin its thread where everybody reads.
  const hidden = await scene.incident();
  await scene.sql`UPDATE incident SET channel = 'C0PRIVATE1', thread_ts = '1.1', title = 'payroll is down' WHERE id = ${hidden}`;
  await scene.bot({
    home: {
      ...home(),
      facts: async (reader) => {
        asked.push(reader.recent.map(({ id }) => id));
        return home().facts(reader);
      },
    },
  });
  const id = await scene.incident();
  const [admin, other] = [await homeOf(USERS.admin), await homeOf(USERS.stranger)];
  for (const shown of [admin, other]) {
    expect(shown).toContain(id);
    expect(shown).not.toContain('payroll');
    expect(shown).not.toContain(`${hidden} `);
    // By name: nobody is rung by a look at Home.
    expect(shown).toContain('Stopped by amara');
    expect(shown).toContain('1 open incident');
  }
  // Not in counts either: what lines are made of never hears of it.
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.flat()).not.toContain(hidden);
  expect(admin).toContain(HOME.stop);
  expect(other).not.toContain(HOME.stop);
});

it('Home is drawn without what cannot be told', async () => {
  scene = await slackScene();
  await scene.bot({ home: { ...noHome, facts: () => Promise.reject(new Error('the database is away')) } });
  expect(await homeOf(USERS.onCall)).toContain('No open incident that you may see');
});

describe('what stands on Home', () => {
  it('opens its windows; incidents page, and name none that may not be read', async () => {
    scene = await slackScene();
    await scene.bot({ home: home(), memory: admins });
    const ids: string[] = [];
    for (let n = 0; n < 14; n += 1) ids.push(await scene.incident());
    const [hidden] = [await scene.incident()];
    await scene.sql`UPDATE incident SET channel = 'C0PRIVATE1', thread_ts = '1.1', title = 'payroll' WHERE id = ${hidden}`;
    await homeOf(USERS.onCall);
    const first = await windowAfter(HOME.incidents, USERS.onCall, `${ids[13]} `);
    expect(JSON.stringify(first)).not.toContain('payroll');
    const older = first.blocks.find((block) => JSON.stringify(block).includes(HOME.incidentsOlder));
    expect(older).toBeDefined();
    const turned = await scene.act('block.action', {
      userId: USERS.onCall,
      container: { type: 'view', viewId: first.id },
      block_id: older?.block_id ?? '',
      action_id: HOME.incidentsOlder,
      input: { kind: 'press' },
    });
    expect(turned).toMatchObject({ ok: true });
    await eventually(async () => {
      const [view, ...more] = await scene.views(USERS.onCall);
      expect(more).toEqual([]);
      expect(JSON.stringify(view)).toContain(`${ids[0]} `);
    });
    for (const [action, words] of [
      [HOME.layers, 'could be'],
      [HOME.roles, 'supervisor'],
      [HOME.memory, 'attempt'],
      [HOME.tools, 'Tools'],
      [HOME.watched, 'No log is watched'],
    ] as const)
      await windowAfter(action, USERS.onCall, words === 'could be' ? 'hold better' : words);
  });

  it('opens one incident for a problem that is reported, of the target that was chosen', async () => {
    scene = await slackScene();
    const opened: unknown[] = [];
    await scene.bot({
      home: { ...home(), targets: () => ['shop-db', 'web-1'] },
      createManualIncident: async (asked) => {
        opened.push(asked);
        return { ok: true, incidentId: await scene.incident(), target: asked.target ?? null, opened: true };
      },
    });
    await homeOf(USERS.onCall);
    const view = await windowAfter(HOME.report, USERS.onCall, 'What do you see?');
    const sent = await scene.act('view.submit', {
      userId: USERS.onCall,
      viewId: view.id,
      form: {
        [REPORT_TEXT]: { [REPORT_TEXT]: { kind: 'text', value: 'checkout is slow' } },
        [REPORT_TARGET]: { [REPORT_TARGET]: { kind: 'option', value: 'web-1' } },
      },
    });
    expect(sent).toMatchObject({ ok: true });
    await eventually(async () => {
      expect(JSON.stringify(await scene.views(USERS.onCall))).toContain('on web-1 is open');
    });
    expect(opened).toEqual([
      { text: 'checkout is slow', by: USERS.onCall, key: `home:${view.id}`, target: 'web-1' },
    ]);
  });

  it('stops everything as the command does, and tells whoever may not', async () => {
    scene = await slackScene();
    const typed: string[] = [];
    let isStopped = false;
    await scene.bot({
      memory: admins,
      // As Home was drawn while both were admins.
      home: home(() => ({ isStopped, isAdmin: true })),
      commands: {
        stop: async ({ text, by }) => {
          typed.push(`${by} stop ${text}`);
          if (by !== USERS.admin) return 'Only admins may stop that.';
          isStopped = true;
          return 'Stopped: everything.';
        },
      },
    });
    await homeOf(USERS.admin);
    await pressHome(HOME.stop, USERS.admin);
    await eventually(async () => {
      expect(JSON.stringify(await viewOf(USERS.admin))).toContain(HOME.resume);
    });
    expect(typed).toEqual([`${USERS.admin} stop everything`]);
    isStopped = false;
    await homeOf(USERS.onCall);
    await eventually(async () => expect(JSON.stringify(await viewOf(USERS.onCall))).toContain(HOME.stop));
    await pressHome(HOME.stop, USERS.onCall);
    const { channel } = (await scene.act('dm.open', { userId: USERS.onCall })) as {
      readonly channel: string;
    };
    await eventually(async () => {
      expect(JSON.stringify(await scene.control('messages', { channel }))).toContain(
        'Only admins may stop that.',
      );
    });
    expect(isStopped).toBe(false);
  });
});

it('an open Home is drawn again when an incident changes that this person may read, once over processes', async () => {
  scene = await slackScene();
  const hidden = await scene.incident();
  await scene.sql`UPDATE incident SET channel = 'C0PRIVATE1', thread_ts = '1.1' WHERE id = ${hidden}`;
  await scene.bot({ home: home() });
  await homeOf(USERS.onCall);
  const published = async () => (await scene.counters()).calls['views.publish']?.total ?? 0;
  const before = await published();
  expect(before).toBe(1);
  await scene.sql`UPDATE incident SET updated_at = clock_timestamp() WHERE id = ${hidden}`;
  const looked = async () => {
    await scene.sql`UPDATE slack_home SET looked_at = clock_timestamp() - interval '31 seconds'`;
    await eventually(async () => {
      const fresh = await scene.sql`
        SELECT FROM slack_home WHERE looked_at > clock_timestamp() - interval '30 seconds'`;
      expect(fresh).toHaveLength(1);
    });
  };
  // Looked at, and found that nothing of theirs has changed. One look follows the other: the first has come to its end by the second.
  await looked();
  await looked();
  expect(await published()).toBe(before);
  await scene.bot({ home: home() });
  const id = await scene.incident();
  await scene.sql`UPDATE slack_home SET looked_at = (SELECT updated_at - interval '1 second' FROM incident WHERE id = ${id}) - interval '31 seconds'`;
  await eventually(async () => {
    expect(JSON.stringify(await viewOf(USERS.onCall))).toContain(id);
  });
  expect(await published()).toBe(before + 1);
});

it('proposals have a line where approvals wait, with a link to the card, until they are decided', async () => {
  scene = await slackScene();
  await scene.bot({ approvalsChannel: 'general' });
  const lines = async () => {
    const { messages } = (await scene.control('messages', { channel: CHANNELS.general })) as {
      readonly messages: readonly { readonly blocks?: readonly unknown[] }[];
    };
    return messages
      .map((message) => JSON.stringify(message.blocks))
      .filter((text) => text.includes('approvals:'));
  };
  const id = await scene.incident(wholeIncident.slice(1, 9));
  await scene.propose(id);
  const card = await eventually(() => cardOf(scene));
  const [line] = await eventually(async () => {
    const found = await lines();
    expect(found).toHaveLength(1);
    return found;
  });
  expect(line).toContain('Waits for approval');
  expect(line).toContain(`p${card.ts.replace('.', '')}`);
  expect(line).not.toContain(ACTIONS.approve);
  expect(await press(scene, card, ACTIONS.approve)).toMatchObject({ ok: true });
  await eventually(async () => {
    const [decided, ...more] = await lines();
    expect(more).toEqual([]);
    expect(decided).toContain('approved by @olivia');
    expect(decided).not.toContain('Waits for approval');
  });
});

it('what those who read the approvals channel may not know of has no line there', async () => {
  scene = await slackScene();
  const hidden = await scene.incident(wholeIncident.slice(1, 9));
  await scene.sql`UPDATE incident SET channel = 'C0PRIVATE1', thread_ts = '1.1' WHERE id = ${hidden}`;
  const { id: secret } = await scene.propose(hidden);
  // Its card stands, in a private channel.
  await scene.sql`
    INSERT INTO slack_post (incident_id, slot, channel, ts, posted_at)
    VALUES (${hidden}, ${`action:${secret}`}, 'C0PRIVATE1', '1.2', now())`;
  const told = await scene.incident(wholeIncident.slice(1, 9));
  await scene.propose(told, { id: asActionId('act_told'), planId: asActionId('act_told') });
  await scene.bot({ approvalsChannel: 'general' });
  const lines = async () => JSON.stringify(await scene.control('messages', { channel: CHANNELS.general }));
  await eventually(async () => expect(await lines()).toContain(`approvals:${told}`));
  // That one was looked at, too.
  await eventually(async () => {
    const rows = await scene.sql`
      SELECT FROM slack_lease WHERE incident_id = ${`approvals:${hidden}`} AND until < clock_timestamp()`;
    expect(rows).toHaveLength(1);
  });
  expect(await lines()).not.toContain(`approvals:${hidden}`);
});
