import { afterEach, describe, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import type { View } from '../../../playground/slack/slack-shapes.ts';
import { refuse } from '../../../src/core/errors.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Edited } from '../../../src/incidents/edit-plan.ts';
import type { SlackDeps } from '../../../src/slack/ports.ts';
import { wholeIncident } from '../../support/incident-record.ts';
import { textOf } from '../../support/local-slack.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { cardOf, whispers } from './card.ts';

/** What stands behind the three dots of an open card, and what each does. */
let scene: SlackScene;
afterEach(() => scene.close());

const free: SlackDeps['plans'] = {
  fieldsOf: () => [{ step: 1, fields: [{ name: 'value', value: '64MB' }] }],
  save: async () => ({ ok: true }),
  mayDecide: async () => undefined,
};

async function openCard(plans: Partial<SlackDeps['plans']> = {}): Promise<IncidentId> {
  scene = await slackScene();
  await scene.bot({ plans: { ...free, ...plans } });
  const id = await scene.incident(wholeIncident.slice(1, 9));
  await scene.propose(id);
  await eventually(() => cardOf(scene));
  return id;
}

/** Chooses as a person does; a press dies after three seconds, of which a loaded machine takes more. */
async function choose(verb: string, userId: string = USERS.onCall): Promise<void> {
  const card = await cardOf(scene);
  const block = card.blocks?.find((each) => JSON.stringify(each).includes('"sentry_card_more"'));
  const values = JSON.stringify(block).match(/"value":"((?:another|why|edit|hand):[^"]+)"/g) ?? [];
  const value = values.map((each) => each.slice(9, -1)).find((each) => each.startsWith(`${verb}:`));
  expect(value).toBeDefined();
  const pressed = await scene.act('block.action', {
    userId,
    container: { type: 'message', channel: card.channel, ts: card.ts },
    block_id: block?.block_id ?? '',
    action_id: 'sentry_card_more',
    input: { kind: 'option', value: value ?? '' },
  });
  expect(pressed).toMatchObject({ ok: true });
}

/** The window that opens, once it says what it is for. */
async function windowOf(verb: string, says: RegExp, userId: string = USERS.onCall): Promise<View> {
  return eventually(async () => {
    await choose(verb, userId);
    return eventually(async () => {
      const open = (await scene.views(userId)).at(-1);
      expect(JSON.stringify(open)).toMatch(says);
      return open as View;
    }, 4_000);
  });
}

describe('Look for another way', () => {
  it('is a No with its reason, without the window, and has another looked for', async () => {
    await openCard();
    await choose('another');
    await eventually(() =>
      expect(scene.decisions).toMatchObject([
        { decision: 'deny', anotherWay: true, reason: 'asks for another way', by: USERS.onCall },
      ]),
    );
    expect(await scene.views(USERS.onCall)).toEqual([]);
  });

  it('is refused to who may not decide, in words, and the card stands', async () => {
    await openCard();
    await choose('another', USERS.stranger);
    await eventually(async () => expect(await whispers(scene, USERS.stranger)).toHaveLength(1));
    expect(JSON.stringify(await cardOf(scene))).toContain('sentry_approve');
  });
});

describe('Ask why', () => {
  it('tells from the record why, what shows it, what else was weighed and what would make it wrong', async () => {
    await openCard();
    const view = JSON.stringify(await windowOf('why', /What shows it/));
    for (const title of ['Why this', 'What else was considered, and why not', 'It is wrong if'])
      expect(view).toContain(title);
    // Only who asked sees it.
    expect((await scene.messages()).map(textOf).join('\n')).not.toContain('What else was considered');
  });
});

describe('Change the plan', () => {
  it('asks for the plan anew with what was entered', async () => {
    const saved: { by: string; edited: Edited }[] = [];
    await openCard({
      save: async ({ by }, edited) => {
        saved.push({ by, edited });
        return { ok: true };
      },
    });
    const view = await windowOf('edit', /64MB/);
    await scene.act('view.submit', {
      userId: USERS.onCall,
      viewId: view.id,
      form: { '1.value': { '1.value': { kind: 'text', value: '32MB' } } },
    });
    await eventually(() => expect(saved).toEqual([{ by: USERS.onCall, edited: { 1: { value: '32MB' } } }]));
    await eventually(async () =>
      expect(JSON.stringify(await scene.views(USERS.onCall))).toContain('It is asked for anew'),
    );
  });

  it('says in the window what the gate refuses, with what was entered still there', async () => {
    await openCard({ save: async () => refuse('INVALID_INPUT', 'value: at most 1GB.') });
    const view = await windowOf('edit', /64MB/);
    await scene.act('view.submit', {
      userId: USERS.onCall,
      viewId: view.id,
      form: { '1.value': { '1.value': { kind: 'text', value: '9TB' } } },
    });
    await eventually(async () => {
      const shown = JSON.stringify(await scene.views(USERS.onCall));
      expect(shown).toContain('value: at most 1GB.');
      expect(shown).toContain('9TB');
    });
  });

  it('opens for nobody who may not take the card away, and stands only where something can be changed', async () => {
    await openCard({ mayDecide: async () => refuse('NOT_AN_APPROVER', 'Only @oncall may approve this.') });
    expect(JSON.stringify(await windowOf('edit', /Only @oncall may approve this/))).not.toContain('64MB');
    await scene.close();
    await openCard({ fieldsOf: () => [] });
    expect(JSON.stringify(await cardOf(scene))).not.toContain('"edit:');
  });
});

describe('Ask somebody else', () => {
  const submit = async (to: string): Promise<void> => {
    const view = await windowOf('hand', /Who is to decide/);
    await scene.act('view.submit', {
      userId: USERS.onCall,
      viewId: view.id,
      form: { to: { to: { kind: 'id', value: to } } },
    });
  };
  const asked = async () =>
    (await scene.messages()).filter(({ text }) => text.includes('asks you to decide'));

  it('mentions who is to decide in the thread, in one line, once', async () => {
    await openCard();
    await submit(USERS.onCall2);
    await eventually(async () => expect(await asked()).toHaveLength(1));
    const [line] = await asked();
    expect(line?.text).toMatch(new RegExp(`^<@${USERS.onCall2}> `));
    expect(line?.text.length).toBeLessThanOrEqual(250);
    await submit(USERS.onCall2);
    // The second is the same message.
    await eventually(async () => expect(await scene.views(USERS.onCall)).toEqual([]));
    expect(await asked()).toHaveLength(1);
  });

  it('asks nobody who may not decide', async () => {
    await openCard({
      mayDecide: async (user) =>
        user === USERS.stranger ? refuse('NOT_AN_APPROVER', 'Only @oncall may approve this.') : undefined,
    });
    await submit(USERS.stranger);
    await eventually(async () =>
      expect((await whispers(scene, USERS.onCall)).join()).toContain('They cannot decide this'),
    );
    expect(await asked()).toEqual([]);
  });
});
