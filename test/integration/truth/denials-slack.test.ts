import { afterEach, describe, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { PlanClick } from '../../../src/slack/ports.ts';
import { anAction } from '../../support/incident-record.ts';
import { textOf } from '../../support/local-slack.ts';
import { eventually, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { openWindow, press } from '../slack/card.ts';

/** What people see of a No in Slack, and what their clicks say. */
let scene: SlackScene;
afterEach(() => scene.close());

const REASON = 'that session is the payroll of March';
const OBJECT = {
  kind: 'session',
  key: '1/session/7/x',
  label: 'session 7 (payroll)',
  application: { key: '1/application/p', label: 'all sessions of payroll (hr)' },
};

/** A card that says a No of another incident stands against it; that one's thread is in the given channel. */
async function cardWithNo(channel: string): Promise<{ readonly id: IncidentId; readonly actionId: string }> {
  const where = await scene.incident();
  const id = await scene.incident();
  await scene.sql`UPDATE incident SET channel = ${channel}, thread_ts = '1.1' WHERE id = ${where}`;
  await scene.sql`
    INSERT INTO denial (id, incident_id, action_id, scope, keys, kind, label, said_by, reason, channel)
    VALUES (${`den_${where}`}, ${where}, ${`act_${where}`}, 'object', ARRAY[${OBJECT.key}], 'session', ${OBJECT.label},
            ${USERS.onCall}, ${REASON}, ${channel})`;
  const { id: actionId } = anAction();
  const action = await scene.propose(id);
  await scene.sql`
    UPDATE action SET denials_acknowledged = ARRAY[${`den_${where}`}], objects = ${scene.sql.json([OBJECT])} WHERE id = ${action.id}`;
  return { id, actionId };
}

async function theCard(wanted: RegExp): Promise<Message> {
  return eventually(async () => {
    const found = (await scene.messages()).find((message) =>
      wanted.test(JSON.stringify(message.blocks ?? [])),
    );
    expect(found).toBeDefined();
    return found as Message;
  });
}

const card = (message: Message): string => `${textOf(message)} ${JSON.stringify(message.blocks)}`;

describe('the No on the next card', () => {
  it('says who, when and why where everybody may read that, and its button says it too', async () => {
    scene = await slackScene();
    await cardWithNo(CHANNELS.general);
    await scene.bot();
    const shown = card(await theCard(/sentry_approve/));
    expect(shown).toContain(REASON);
    expect(shown).toContain('Approve although olivia said no');
    expect(shown).toContain(`"user_id":"${USERS.onCall}"`);
  });

  it('says only that there is one, and whom to ask, where its channel is private [F3]', async () => {
    scene = await slackScene();
    await scene.control('channel-privacy', { channel: CHANNELS.admin, is_private: true });
    await cardWithNo(CHANNELS.admin);
    await scene.bot();
    const shown = card(await theCard(/sentry_approve/));
    expect(shown).toContain('Somebody said no');
    expect(shown).toContain('where you cannot read; ask ');
    expect(shown).toContain('Approve although somebody said no');
    expect(JSON.stringify(await scene.messages())).not.toContain('payroll of March');
  });
});

describe('Deny', () => {
  it.each([
    [{}, { scope: 'act', minutes: null }],
    [{ far: 'object' }, { scope: 'object', minutes: null }],
    [{ far: 'application' }, { scope: 'application', minutes: 7 * 24 * 60 }],
    [
      { far: 'object', long: '60' },
      { scope: 'object', minutes: 60 },
    ],
  ] as const)('asks how far and how long: %j is %j', async (chosen, reach) => {
    scene = await slackScene();
    const id = await scene.incident();
    const action = await scene.propose(id);
    await scene.sql`UPDATE action SET objects = ${scene.sql.json([OBJECT])} WHERE id = ${action.id}`;
    await scene.bot();
    const view = await openWindow(scene, () => theCard(/sentry_deny/), 'sentry_deny');
    const form = Object.fromEntries(
      Object.entries(chosen).map(([name, value]) => [name, { [name]: { kind: 'option', value } as const }]),
    );
    await scene.act('view.submit', {
      userId: USERS.onCall,
      viewId: view.id,
      form: { reason: { reason: { kind: 'text', value: 'mine' } }, ...form },
    });
    await eventually(() => expect(scene.decisions.at(-1)).toMatchObject({ decision: 'deny', reach }));
  });
});

describe('a denied card', () => {
  it('says how far the No reaches, and has Approve after all and Take the No back', async () => {
    scene = await slackScene();
    const id = await scene.incident();
    const action = await scene.propose(id);
    await scene.sql`
      UPDATE action SET state = 'denied', decided_by = ${USERS.onCall}, decided_at = now(), objects = ${scene.sql.json([OBJECT])}
       WHERE id = ${action.id}`;
    await scene.sql`
      INSERT INTO denial (id, incident_id, action_id, scope, keys, kind, label, said_by, reason)
      VALUES ('den_1', ${id}, ${action.id}, 'object', ARRAY[${OBJECT.key}], 'session', ${OBJECT.label}, ${USERS.onCall}, '')`;
    await scene.append(id, {
      type: 'state.changed',
      from: 'awaiting_approval',
      to: 'reported',
      reason: 'denied',
    });
    const clicks: string[] = [];
    const click = (name: string) => async (given: PlanClick) => {
      clicks.push(`${name} ${given.actionId} ${given.by}`);
      return { ok: true, text: null } as const;
    };
    await scene.bot({
      afterwards: {
        mayUndo: () => false,
        undo: click('undo'),
        askAgain: click('again'),
        takeNoBack: click('back'),
        runRest: click('rest'),
        settle: click('settle'),
      },
    });
    const shown = await theCard(/sentry_take_back/);
    expect(card(shown)).toMatch(
      /It covers anything done to session 7 \(payroll\), in every incident, until .*it is gone/,
    );
    await press(scene, shown, 'sentry_after_all', USERS.onCall2);
    await press(scene, shown, 'sentry_take_back', USERS.onCall2);
    await eventually(() =>
      expect(clicks).toEqual([`again ${action.id} ${USERS.onCall2}`, `back ${action.id} ${USERS.onCall2}`]),
    );
    await scene.sql`UPDATE denial SET taken_back_by = ${USERS.onCall2}, taken_back_at = now()`;
    await scene.append(id, {
      type: 'denial.taken_back',
      actionId: action.id,
      denialId: 'den_1',
      by: USERS.onCall2,
    });
    const after = await theCard(/The No was taken back by/);
    expect(card(after)).not.toContain('sentry_take_back');
  });
});
