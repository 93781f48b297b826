import { afterEach, expect, it } from 'vitest';
import type { FormInput } from '../../../playground/slack/page-api.ts';
import { CHANNELS, SENTRY_APP, USERS } from '../../../playground/slack/seed.ts';
import type { Message, View } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { assignIncident, takeIncident } from '../../../src/escalation/acknowledge.ts';
import { closeIncident } from '../../../src/incidents/close.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { setSeverity } from '../../../src/incidents/set-severity.ts';
import type { SlackDeps } from '../../../src/slack/ports.ts';
import { quiet } from '../../support/quiet.ts';
import { seenText } from '../../support/seen-text.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

/** A bot whose orders are carried out on the record; nothing waits for approval there. */
async function withBot(): Promise<IncidentId> {
  scene = await slackScene();
  const { sql, records } = scene;
  const deps = {
    sql,
    records,
    audit: { appendIn: async () => undefined },
    approvals: { void: async () => true },
    memory: { rememberIncident: async () => undefined },
    redact: (text: string) => text,
    log: quiet,
  } as never;
  const refuse = async () => ({ ok: false, code: 'NOT_HERE', reason: 'Not here.' }) as const;
  const steer: SlackDeps['steer'] = {
    stop: refuse,
    resume: refuse,
    close: (id, by, reason) => closeIncident(deps, id, by, reason),
    setSeverity: (id, by, to) => setSeverity(deps, id, by, to),
  };
  const escalation: SlackDeps['escalation'] = {
    take: (id, by) => takeIncident({ sql, records }, id, by),
    assign: (id, to, by) => assignIncident({ sql, records }, id, to, by),
    pageNow: refuse,
    wrote: async () => undefined,
    pagersAfter: () => [],
    calls: 'never',
    isQuiet: () => false,
  };
  await scene.bot({ steer, escalation, why });
  return scene.incident();
}

const rootOf = (): Promise<Message> =>
  eventually(async () => {
    const [root] = await scene.messages();
    expect(root?.blocks).toBeDefined();
    return root as Message;
  });
const rootSays = (says: RegExp): Promise<void> =>
  eventually(async () => {
    const { blocks = [], attachments = [] } = await rootOf();
    expect(seenText({ blocks: [blocks, attachments] as never })).toMatch(says);
  });
const hears = (says: string, userId: string = USERS.onCall): Promise<void> =>
  eventually(async () => expect((await whispers(scene, userId)).at(-1)).toContain(says));
const typed = (text: string, userId: string = USERS.onCall) =>
  scene.act('command.run', { userId, channel: CHANNELS.alerts, text: `/sentry ${text}` });

async function said(text: string, userId: string = USERS.onCall): Promise<void> {
  const { ts } = await rootOf();
  await scene.act('message.post', {
    userId,
    channel: CHANNELS.alerts,
    thread_ts: ts,
    text: `<@${SENTRY_APP.botUserId}> ${text}`,
  });
}

/** Chosen behind the three dots until its form stands, as a person does. */
async function form(verb: string, id: IncidentId, userId: string = USERS.onCall): Promise<View> {
  return eventually(async () => {
    const root = await rootOf();
    const block = root.blocks?.find((each) => JSON.stringify(each).includes('"sentry_more"'));
    const answer = await scene.act('block.action', {
      userId,
      container: { type: 'message', channel: root.channel, ts: root.ts },
      block_id: block?.block_id ?? '',
      action_id: 'sentry_more',
      input: { kind: 'option', value: `${verb}:${id}` },
    });
    expect(answer).toMatchObject({ ok: true });
    return eventually(async () => {
      const [open] = await scene.views(userId);
      expect(JSON.stringify(open)).toContain('sentry_order');
      return open as View;
    }, 4_000);
  });
}
const submit = (view: View, input: FormInput[string][string], userId: string = USERS.onCall) =>
  scene.act('view.submit', { userId, viewId: view.id, form: { value: { value: input } } });

it('two have the window open: the first closes it, the second is told; the thread says who and why', async () => {
  const id = await withBot();
  const [one, two] = [await form('close', id), await form('close', id, USERS.onCall2)];
  expect(await submit(one, { kind: 'text', value: 'fixed by hand' })).toMatchObject({ ok: true });
  await hears(`${id} is closed.`);
  await rootSays(/Over · (?!a person).+ closed it: fixed by hand/);
  expect(await submit(two, { kind: 'text', value: 'mine' }, USERS.onCall2)).toMatchObject({ ok: true });
  await hears(`${id} is over already.`, USERS.onCall2);
  await typed(`severity ${id} warning`);
  await hears(`${id} is over: its severity stays as it was.`);
  await typed(`why ${id}`);
  await hears('closed it: fixed by hand');
  expect(JSON.stringify(await rootOf())).not.toContain('sentry_more');
});

it('its severity is changed in a window, by a mention and by a command', async () => {
  const id = await withBot();
  const view = await form('severity', id);
  expect(JSON.stringify(view)).toContain('"initial_option":{"text":{"type":"plain_text","text":"critical"');
  await submit(view, { kind: 'option', value: 'error' });
  await hears(`${id} is error now; it was critical.`);
  await rootSays(/ · error · /);
  await said('severity warning');
  await rootSays(/ · warning · /);
  await typed(`severity ${id} info`);
  await rootSays(/ · info · /);
});

it('whoever it is assigned to is mentioned once, however often it is said, and has it', async () => {
  const id = await withBot();
  const view = await form('assign', id);
  // Who else is on call stands there already, and whom it cannot be given to is said before.
  expect(JSON.stringify(view)).toContain(`"initial_user":"${USERS.onCall2}"`);
  expect(JSON.stringify(view)).toContain('members who may read of it: no guests, no apps');
  await submit(view, { kind: 'id', value: USERS.onCall2 });
  await rootSays(/Has it: @/);
  await said(`assign <@${USERS.onCall2}>`);
  await typed(`assign ${id} @noah`);
  await hears(`has ${id} already.`);
  const told = (await scene.messages()).filter(({ text }) =>
    text.startsWith(`<@${USERS.onCall2}> this is yours`),
  );
  expect(told).toHaveLength(1);
  expect(JSON.stringify((await rootOf()).blocks)).not.toContain('sentry_take');
  await said('assign to me');
  await eventually(async () =>
    expect(await scene.sql`SELECT acknowledged_by AS by FROM escalation WHERE incident_id = ${id}`).toEqual([
      { by: USERS.onCall },
    ]),
  );
});

it('a sentence that begins with the word is a hint, and does nothing', async () => {
  const id = await withBot();
  await said('close the idle connections first');
  await eventually(() =>
    expect(scene.hints.map(({ text }) => text)).toEqual(['close the idle connections first']),
  );
  expect(await scene.records.incident(id)).toMatchObject({ endedAt: null });
});

it('who may not read of it learns nothing by a command, and it is not assigned to them', async () => {
  scene = await slackScene();
  const done: string[] = [];
  const does = async (id: IncidentId): Promise<{ readonly ok: true; readonly text: string }> => {
    done.push(id);
    return { ok: true, text: 'done' };
  };
  await scene.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
  await scene.bot({
    alertChannels: ['alerts', CHANNELS.admin],
    steer: { stop: does, resume: does, close: does, setSeverity: does },
    escalation: {
      take: does,
      assign: does,
      pageNow: does,
      wrote: async () => undefined,
      pagersAfter: () => [],
      calls: 'never',
      isQuiet: () => false,
    },
  });
  const id = await scene.incident([], CHANNELS.admin);
  for (const text of [`close ${id} x`, `severity ${id} info`, `assign ${id} @sam`]) {
    await typed(text, USERS.stranger);
    await hears(`There is no ${id} that you may see`, USERS.stranger);
  }
  await scene.act('command.run', {
    userId: USERS.admin,
    channel: CHANNELS.admin,
    text: `/sentry assign ${id} @sam`,
  });
  await hears('invite them to its channel first', USERS.admin);
  expect(done).toEqual([]);
});
