import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import { runbooksStore } from '../../../src/memory/documents/document.ts';
import { MEMORY_ACTIONS } from '../../../src/slack/views/blocks/promotion-card.ts';
import { ACTIONS } from '../../../src/slack/views/blocks/slot.ts';
import { textOf } from '../../support/local-slack.ts';
import { type PromotionScene, promotionScene } from '../../support/promotion-scene.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';
import { shipped } from '../memory/documents/rig.ts';

let at: PromotionScene;
beforeAll(async () => {
  at = await promotionScene();
});
afterAll(() => at.close());

const secret = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
const amara = () => at.client.asUser(USERS.admin);
const state = async (jobId: string) => (await at.memory.promotions.get(jobId))?.state;
const workspaceText = async (path: string) =>
  (await at.memory.workspace.list({ store: runbooksStore })).find((one) => one.path === path)?.content;
const note = (incident: string, words: RegExp) =>
  at.client.waitForMessage(
    (message) =>
      (message.blocks?.[0]?.block_id?.includes(`${incident}:promotion:`) ?? false) &&
      words.test(textOf(message)),
  );
const hasButton = (message: { readonly blocks?: readonly unknown[] }, action: string): boolean =>
  JSON.stringify(message.blocks).includes(`"${action}"`);

describe('the card of a proposal', () => {
  test('says what, why, by whom, from where and what was checked; approving it once tells the thread', async () => {
    const incident = await at.incident('drawn');
    const jobId = await at.propose(incident, {}, USERS.onCall);
    const card = await at.card(jobId);
    for (const words of [
      'The report job blocks orders',
      'The nightly report leaves a transaction open.',
      'It came twice this week.',
      incident,
      'Safety scanner: nothing found',
      '@amara may decide',
    ])
      expect(textOf(card)).toContain(words);
    expect(JSON.stringify(card.blocks)).toContain(USERS.onCall);
    await amara().press(card, { actionId: MEMORY_ACTIONS.approve });
    const after = await at.card(jobId, (one) => textOf(one).includes('Approved'));
    expect(after.ts).toBe(card.ts);
    expect(hasButton(after, MEMORY_ACTIONS.approve)).toBe(false);
    expect(await workspaceText(`drafts/${incident.toLowerCase()}`)).toContain('nightly report');
    const told = await note(incident, /Approved by/);
    expect(JSON.stringify(told.blocks)).toContain(`"user_id":"${USERS.onCall}"`);
  });

  test('pressed a hundred times at once by all decides once, and everybody who was late is told by whom', async () => {
    const incident = await at.incident();
    const jobId = await at.propose(incident);
    const card = await at.card(jobId);
    await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        at.client
          .asUser(n % 5 === 4 ? USERS.onCall : USERS.admin)
          .press(card, { actionId: MEMORY_ACTIONS.approve }),
      ),
    );
    await at.card(jobId, (one) => textOf(one).includes('Approved'));
    await at.told(USERS.admin, /amara has approved this already/);
    await at.told(USERS.onCall, /Only admins decide/);
    const [versions] = await at.scene.sql<Row>`
      SELECT count(*) AS n FROM memory_version v JOIN memory_document d ON d.id = v.document_id
      WHERE d.store = ${runbooksStore} AND d.path = ${`drafts/${incident.toLowerCase()}`}`;
    expect(versions?.['n']).toBe(1);
  });

  test('is answered to who may not decide, and nothing is decided', async () => {
    const incident = await at.incident();
    const jobId = await at.propose(incident);
    const card = await at.card(jobId);
    const { ephemerals } = await at.client.snapshot();
    const answers = async () => (await at.client.snapshot()).ephemerals.length - ephemerals.length;
    for (const actionId of [MEMORY_ACTIONS.approve, MEMORY_ACTIONS.edit, MEMORY_ACTIONS.reject]) {
      await at.client.asUser(USERS.onCall).press(card, { actionId });
      // Not in the channel: Slack itself does not take the press.
      expect(await at.client.asUser(USERS.stranger).press(card, { actionId })).toMatchObject({ ok: false });
    }
    await expect.poll(answers).toBe(3);
    const { views, ephemerals: said } = await at.client.snapshot();
    // In the channel, where the card is: in a thread below it nobody would see it.
    expect(said.slice(-3).map(({ message }) => message.thread_ts)).toEqual([undefined, undefined, undefined]);
    expect(views[USERS.onCall] ?? []).toEqual([]);
    expect(await state(jobId)).toBe('pending');
    const [refused] = await at.scene.sql<Row>`
      SELECT count(*) AS n FROM audit_entry WHERE body LIKE '%memory.promotion.refused%' AND body LIKE ${`%${jobId}%`}`;
    expect(refused?.['n']).toBe(1);
  });

  test('rejected, with a reason, keeps the draft and tells the thread why', async () => {
    const incident = await at.incident();
    const jobId = await at.propose(incident);
    await amara().press(await at.card(jobId), { actionId: MEMORY_ACTIONS.reject });
    const view = await at.client.waitForView(USERS.admin);
    await amara().submit(view, { reason: { reason: { kind: 'text', value: 'Too special.' } } });
    const after = await at.card(jobId, (one) => textOf(one).includes('Rejected'));
    expect(textOf(after)).toContain('Too special.');
    expect(textOf(await note(incident, /Rejected by/))).toContain('Too special.');
    expect(await workspaceText(`drafts/${incident.toLowerCase()}`)).toBeUndefined();
    expect(
      await at.memory.documents.list({ kind: 'person', userId: 'U1', incidents: [incident] }),
    ).toContainEqual(
      expect.objectContaining({ trust: 'agent_draft', path: `drafts/${incident.toLowerCase()}` }),
    );
  });

  test('approved with edits: a text that is not taken comes back with why, and without its secret', async () => {
    const incident = await at.incident();
    const jobId = await at.propose(incident);
    await amara().press(await at.card(jobId), { actionId: MEMORY_ACTIONS.edit });
    const view = await at.client.waitForView(
      USERS.admin,
      (one) => one.callback_id === 'sentry_promotion_edit',
    );
    const text = (value: string) => ({
      content_0: { content_0: { kind: 'text' as const, value } },
    });
    await amara().submit(view, text(`Log in with ${secret}, then end it.`));
    const again = await at.client.waitForView(USERS.admin, (one) =>
      JSON.stringify(one).includes('Not taken'),
    );
    expect(JSON.stringify(again.blocks[0])).toMatch(/scanner found .*token/i);
    expect(JSON.stringify(again.blocks[0])).not.toContain(secret);
    expect(await state(jobId)).toBe('pending');
    await amara().submit(again, text('End the report’s transaction.\n\nThen ask its owner.'));
    await at.card(jobId, (one) => textOf(one).includes('Approved'));
    expect(await workspaceText(`drafts/${incident.toLowerCase()}`)).toBe(
      'End the report’s transaction.\n\nThen ask its owner.',
    );
    const [audit] = await at.scene.sql<Row>`SELECT string_agg(body, '') AS body FROM audit_entry`;
    expect(audit?.['body']).not.toContain(secret);
  });

  test('with a text that was changed meanwhile is drawn again, and a click on the old one decides nothing', async () => {
    const first = await at.incident();
    const path = 'shared/orders';
    const approved = await at.propose(first, { path, content: 'One.\nTwo.' });
    await amara().press(await at.card(approved), { actionId: MEMORY_ACTIONS.approve });
    await at.card(approved, (one) => textOf(one).includes('Approved'));
    const jobId = await at.propose(await at.incident(), { path, content: 'One.\nThree.' });
    const card = await at.card(jobId);
    expect(textOf(card)).toMatch(/- Two\.\n\+ Three\./);
    // The bot sees the change by itself and draws the card anew: without this the click could be one on the new card.
    await waitFor('the card to be drawn', async () => {
      const rows = await at.scene.sql`
        UPDATE slack_lease SET holder = 'the test', until = clock_timestamp() + interval '1 hour'
         WHERE incident_id = ${jobId} AND drawn_mark <> '' AND until < clock_timestamp() RETURNING 1`;
      return rows.length > 0;
    });
    const document = (await at.memory.workspace.list()).find((one) => one.path === path);
    await at.memory.workspace.edit({
      by: USERS.admin,
      documentId: document?.id ?? '',
      content: 'One.\nMeanwhile.',
      base: document?.sha256 ?? '',
    });
    await amara().press(card, { actionId: MEMORY_ACTIONS.approve });
    await at.client.waitForEphemeral(USERS.admin, (one) => /changed since this card/.test(one.text ?? ''));
    expect(await state(jobId)).toBe('pending');
    await at.scene.sql`UPDATE slack_lease SET until = '-infinity' WHERE incident_id = ${jobId}`;
    const again = await at.card(jobId, (one) => /- Meanwhile\.\n\+ Three\./.test(textOf(one)));
    await amara().press(again, { actionId: MEMORY_ACTIONS.approve });
    await at.card(jobId, (one) => textOf(one).includes('Approved'));
    expect(await workspaceText(path)).toBe('One.\nThree.');
  });

  test('of a runbook with steps has no Approve before they have run on a live system', async () => {
    at.trials.push({
      passed: false,
      target: 'shop-db',
      lines: ['✗ postgres_blocking_tree: connection refused'],
    });
    const incident = await at.incident();
    const jobId = await at.propose(incident, {
      content: shipped,
      title: 'Blocked sessions',
      docType: 'runbook',
    });
    const untried = await at.card(jobId, (one) => textOf(one).includes('being tried'));
    expect(hasButton(untried, MEMORY_ACTIONS.approve)).toBe(false);
    await at.memory.promotions.rehearse(jobId);
    const failed = await at.card(jobId, (one) => textOf(one).includes('connection refused'));
    expect(hasButton(failed, MEMORY_ACTIONS.approve)).toBe(false);
    await amara().press(failed, { actionId: MEMORY_ACTIONS.rehearse });
    const passed = await at.card(jobId, (one) => textOf(one).includes('✓ Tried on shop-db'));
    await amara().press(passed, { actionId: MEMORY_ACTIONS.approve });
    await at.card(jobId, (one) => textOf(one).includes('Approved'));
    expect(await workspaceText(`drafts/${incident.toLowerCase()}`)).toBe(shipped);
  });

  test('of what was forgotten says so, and its text is gone', async () => {
    const incident = await at.incident();
    const jobId = await at.propose(incident, { content: 'Call Kim about orders.' });
    expect(textOf(await at.card(jobId))).toContain('Kim');
    const [row] = await at.scene.sql<Row>`SELECT document_id FROM dream_review_item WHERE job_id = ${jobId}`;
    await at.scene.sql<Row>`SELECT memory_forget_documents(ARRAY[${String(row?.['document_id'])}])`;
    const card = await at.card(jobId, (one) => textOf(one).includes('forgotten'));
    expect(textOf(card)).not.toContain('Kim');
  });
});

describe('what people ask to be remembered', () => {
  const say = async (user: string, text: string, channel: string = CHANNELS.general) => {
    const before = new Set((await at.client.snapshot()).ephemerals.map(({ message }) => message.ts));
    await at.client.asUser(user).command(channel, text);
    return at.client.waitForEphemeral(user, (one) => !before.has(one.ts) && one.text !== undefined);
  };

  test('is kept for them alone, once, and nobody else finds it', async () => {
    await say(USERS.onCall, '/sentry memory remember The orders team sits in Lisbon.');
    await at.client.waitForEphemeral(USERS.onCall, (one) => /Remembered for you alone/.test(one.text ?? ''));
    await say(USERS.onCall, '/sentry memory remember The orders team sits in Lisbon.');
    const list = (userId: string) => at.memory.documents.list({ kind: 'person', userId, incidents: [] });
    expect((await list(USERS.onCall)).filter(({ content }) => content.includes('Lisbon'))).toMatchObject([
      { scope: 'user', trust: 'user_authored', version: 1 },
    ]);
    expect(JSON.stringify(await list(USERS.onCall2))).not.toContain('Lisbon');
    await at.client.asUser(USERS.onCall).command(CHANNELS.general, '/sentry memory list lisbon');
    const own = await at.client.waitForEphemeral(USERS.onCall, (one) => textOf(one).includes('yours/notes/'));
    await at.client
      .asUser(USERS.stranger)
      .press({ ...own, channel: CHANNELS.general }, { actionId: MEMORY_ACTIONS.document });
    await new Promise((done) => setTimeout(done, 0));
    expect(JSON.stringify((await at.client.snapshot()).views[USERS.stranger] ?? [])).not.toContain('Lisbon');
  });

  test('with a secret in it is refused by its kind, and kept nowhere', async () => {
    await at.client
      .asUser(USERS.onCall2)
      .command(CHANNELS.general, `/sentry memory remember the token is ${secret}`);
    const answer = await at.client.waitForEphemeral(USERS.onCall2, (one) =>
      /scanner found/.test(one.text ?? ''),
    );
    expect(textOf(answer)).toMatch(/token/);
    expect(textOf(answer)).not.toContain(secret);
    const rows = await at.scene.sql`SELECT 1 FROM memory_version WHERE content LIKE ${`%${secret}%`}`;
    expect(rows).toEqual([]);
  });

  test('in an incident’s thread is the incident’s, makes a requester, and becomes everybody’s by proposal and an admin [F9]', async () => {
    const incident = await at.incident('drawn');
    const root = await at.client.waitForMessage(
      (message) => message.blocks?.[0]?.block_id?.startsWith(`sentry:${incident}:root`) ?? false,
    );
    const olivia = at.client.asUser(USERS.onCall);
    await olivia.say(CHANNELS.alerts, 'remember: the report job is Kim’s, call before ending it', root.ts);
    const kept = await at.client.waitForMessage((one) => textOf(one).includes(`Remembered for ${incident}`));
    expect(kept.thread_ts).toBe(root.ts);
    const [document] = (
      await at.memory.documents.list({ kind: 'person', userId: USERS.onCall, incidents: [incident] })
    ).filter(({ scope }) => scope === 'conversation');
    expect(document).toMatchObject({ trust: 'user_authored', author: USERS.onCall, incidentId: incident });
    expect((await at.scene.records.incident(incident))?.requesters).toEqual([USERS.onCall]);
    await olivia.press(kept, { actionId: MEMORY_ACTIONS.propose });
    const view = await at.client.waitForView(USERS.onCall);
    await olivia.submit(view, {
      why: { why: { kind: 'text', value: 'It comes every night.' } },
    });
    const [waiting] = (await at.memory.promotions.list({ pending: true })).filter(
      (one) => one.incidentId === incident,
    );
    expect(waiting).toMatchObject({ proposedBy: USERS.onCall, rationale: 'It comes every night.' });
    await amara().press(await at.card(waiting?.jobId ?? ''), { actionId: MEMORY_ACTIONS.approve });
    await note(incident, /Approved by/);
    expect(await workspaceText(document?.path ?? '')).toContain('call before ending it');
  });
});

test('an admin edits, rolls back and retires what everybody’s memory says, in its window', async () => {
  const jobId = await at.propose(await at.incident(), { path: 'admin/walk', content: 'First.' });
  await amara().press(await at.card(jobId), { actionId: MEMORY_ACTIONS.approve });
  const card = await at.card(jobId, (one) => textOf(one).includes('Approved'));
  const document = () =>
    at.memory.workspace.list().then((all) => all.find((one) => one.path === 'admin/walk'));
  const window = (words: string) =>
    at.client.waitForView(USERS.admin, (one) => JSON.stringify(one).includes(words));

  await at.client.asUser(USERS.onCall).press(card, { actionId: MEMORY_ACTIONS.document });
  const plain = await at.client.waitForView(USERS.onCall, (one) => JSON.stringify(one).includes('First.'));
  expect(hasButton(plain, MEMORY_ACTIONS.retire)).toBe(false);

  await amara().press(card, { actionId: MEMORY_ACTIONS.document });
  await amara().pressIn(await window('First.'), { actionId: MEMORY_ACTIONS.documentEdit });
  await amara().submit(await window('Edit memory'), {
    text_0: { text_0: { kind: 'text', value: 'Second.' } },
  });
  await amara().pressIn(await window('Saved.'), { actionId: `${MEMORY_ACTIONS.rollBack}_1` });
  await amara().pressIn(await window('It says again what version 1 said.'), {
    actionId: MEMORY_ACTIONS.retire,
  });
  await window('Retired.');
  const id = card.blocks && /"(doc_[0-9a-f]{32})"/.exec(JSON.stringify(card.blocks))?.[1];
  expect(await document()).toBeUndefined();
  expect((await at.memory.workspace.history(id ?? '')).map(({ content }) => content)).toEqual([
    'First.',
    'Second.',
    'First.',
  ]);
});

test('/sentry promotions lists what waits, with a way to its card', async () => {
  const jobId = await at.propose(await at.incident(), { title: 'Waits for you' });
  await at.card(jobId);
  await at.client.asUser(USERS.admin).command(CHANNELS.general, '/sentry promotions');
  const answer = await at.client.waitForEphemeral(USERS.admin, (one) =>
    textOf(one).includes('Waits for you'),
  );
  expect(JSON.stringify(answer.blocks)).toContain(`/archives/${CHANNELS.admin}/p`);
  await at.client.asUser(USERS.admin).command(CHANNELS.general, '/sentry status');
  await at.client.waitForEphemeral(USERS.admin, (one) =>
    /proposals? for everybody’s memory:/.test(textOf(one)),
  );
  await at.client.asUser(USERS.stranger).command(CHANNELS.general, '/sentry promotions');
  const other = await at.client.waitForEphemeral(USERS.stranger, (one) =>
    /Only admins see/.test(textOf(one)),
  );
  expect(textOf(other)).not.toContain('Waits for you');
});

// The last: its windows stay open, and its incident is drawn nowhere.
test('no window shows anything of an incident to who may not see its channel, also from a proposal’s card [V9]', async () => {
  const incident = await at.incident('drawn');
  const card = await at.card(await at.propose(incident));
  await at.scene.propose(incident);
  const asked = await at.client.waitForMessage(
    (message) => message.blocks?.[0]?.block_id?.startsWith(`sentry:${incident}:action:`) ?? false,
  );
  // Of a channel that Slack tells nothing of: who cannot be told to be a member is none.
  await at.scene.sql`
    UPDATE incident SET title = 'Nightfall layoffs', channel = 'C0NIGHTFALL' WHERE id = ${incident}`;
  const olivia = at.client.asUser(USERS.onCall);
  for (const [message, actionId, title] of [
    [card, MEMORY_ACTIONS.sources, 'Where it came from'],
    [asked, ACTIONS.evidence, 'Details'],
  ] as const) {
    await olivia.press(message, { actionId });
    const view = await at.client.waitForView(
      USERS.onCall,
      (one) => one.title?.text === title && !/One moment/.test(JSON.stringify(one)),
    );
    expect(JSON.stringify(view)).toMatch(/may not see/);
    expect(JSON.stringify(view)).not.toMatch(/nightfall/i);
  }
});
