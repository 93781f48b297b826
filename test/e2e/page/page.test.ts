import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import {
  calls,
  channel,
  listen,
  postButton,
  postOpener,
  seen,
  startFaults,
  submitted,
  switchTo,
} from './page-bot.ts';
import { type PageSession, startPageSession, withoutChromium } from './page-session.ts';

describe.skipIf(withoutChromium())('the page of the local Slack', () => {
  let session: PageSession;
  let faultsServer: Server;
  let page: Page;

  beforeAll(async () => {
    faultsServer = await startFaults();
    const { port } = faultsServer.address() as AddressInfo;
    session = await startPageSession(listen, { faultsUrl: `http://127.0.0.1:${port}` });
    page = await session.open(USERS.onCall);
  });

  beforeEach(async () => {
    // A dialog that a failed test has left open is no later one's.
    if ((await page.locator('[inert]').count()) > 0) await page.reload();
    await page.getByTestId('channel-alerts').click();
  });

  afterAll(async () => {
    await session?.close();
    faultsServer?.close();
  });

  it('sends what is typed, with mentions as ids, and clears the composer', async () => {
    const composer = page.getByTestId('composer');
    await composer.fill('hello @noah, is *this* fine?');
    await composer.press('Enter');
    const message = await session.client.waitForMessage((one) => one.text.includes('hello'));
    expect(message).toMatchObject({ user: USERS.onCall, text: `hello <@${USERS.onCall2}>, is *this* fine?` });
    const row = page.getByTestId(`message-${message.ts}`);
    await row.locator('strong', { hasText: 'this' }).waitFor();
    expect(await row.locator('.mention').innerText()).toBe('@noah');
    expect(await composer.inputValue()).toBe('');
  });

  it('shows a post of the app live, then its edit in place, and its replies in a thread', async () => {
    const { ts = '' } = await session.bot.client.chat.postMessage({ channel, text: 'first words' });
    const row = page.getByTestId(`message-${ts}`);
    await row.getByText('first words').waitFor();
    expect(await row.locator('.app-badge').innerText()).toBe('APP');
    await session.bot.client.chat.update({ channel, ts, text: 'better words' });
    await row.getByText('better words').waitFor();
    expect(await row.getByText('first words').count()).toBe(0);
    await row.getByText('(edited)').waitFor();
    const reply = await session.bot.client.chat.postMessage({ channel, thread_ts: ts, text: 'a finding' });
    await page.getByTestId('faults-open').click();
    await page.getByTestId(`replies-${ts}`).click();
    await page.getByTestId('faults').waitFor({ state: 'detached' });
    await page
      .getByTestId('thread')
      .getByTestId(`thread-reply-${reply.ts ?? ''}`)
      .getByText('a finding')
      .waitFor();
    await page.getByTestId('thread-composer').fill('thank you');
    await page.getByTestId('thread-composer').press('Enter');
    const answer = await session.client.waitForMessage((one) => one.text === 'thank you');
    expect(answer.thread_ts).toBe(ts);
    await page.getByTestId('thread-close').click();
  });

  it('grows a streamed message in place without moving a reader who has scrolled up', async () => {
    for (let i = 0; i < 30; i++)
      await session.bot.client.chat.postMessage({ channel, text: `line ${i}\n`.repeat(3) });
    const { ts = '' } = await session.bot.client.chat.postMessage({ channel, text: 'streaming' });
    const row = page.getByTestId(`message-${ts}`);
    await row.waitFor();
    const list = page.locator('[data-stick=channel]');
    await list.evaluate((el) => el.scrollTo(0, 200));
    await page.waitForTimeout(100);
    const place = await list.evaluate((el) => el.scrollTop);
    await session.bot.client.chat.update({ channel, ts, text: 'streaming\n'.repeat(20) });
    await expect.poll(async () => (await row.innerText()).length).toBeGreaterThan(150);
    expect(await list.evaluate((el) => el.scrollTop)).toBe(place);
    await list.evaluate((el) => el.scrollTo(0, el.scrollHeight));
    await page.waitForTimeout(100);
    await session.bot.client.chat.update({ channel, ts, text: 'streaming\n'.repeat(60) });
    await expect.poll(async () => (await row.innerText()).length).toBeGreaterThan(500);
    const fromEnd = await list.evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight);
    expect(fromEnd).toBeLessThan(5);
  });

  it('shows a direct message as the agent’s conversation: what to ask, a growing answer, its *Stop*', async () => {
    const { client } = session.bot;
    await page.getByTestId('app-sentry').click();
    await page.getByTestId('tab-messages').click();
    const dm = (await session.client.act('dm.open', { userId: USERS.onCall })) as {
      readonly channel: string;
    };
    const prompts = [{ title: 'How are you?', message: 'status' }];
    await client.assistant.threads.setSuggestedPrompts({ channel_id: dm.channel, title: 'Quiet', prompts });
    await page.getByTestId('prompts').getByRole('button', { name: 'How are you?' }).click();
    const asked = await session.client.waitForMessage(
      (one) => one.channel === dm.channel && one.text === 'status',
    );
    const thread = { channel_id: dm.channel, thread_ts: asked.ts };
    await client.agents.sessions.setStatus({ ...thread, status: 'processing', title: 'About the night' });
    await page.getByTestId('thread').getByRole('heading', { name: 'About the night' }).waitFor();
    const at = { channel: dm.channel, thread_ts: asked.ts };
    const { ts = '' } = await client.chat.startStream({ ...at, markdown_text: 'All is' });
    const reply = page.getByTestId(`thread-reply-${ts}`);
    await reply.getByText('All is').waitFor();
    await page.getByTestId('session-stop').click();
    await expect
      .poll(() => client.chat.appendStream({ channel: dm.channel, ts, markdown_text: ' well' }).catch(String))
      .toContain('stopped_by_user');
    await client.chat.stopStream({ channel: dm.channel, ts });
    await page.getByTestId('session-stop').waitFor({ state: 'detached' });
    await page.getByTestId('thread-close').click();
  });

  it('hands a button press to the app with its value and the person, after the confirmation', async () => {
    const { ts = '' } = await postButton(session, { confirm: true });
    const button = page.getByTestId(`message-${ts}`).getByTestId('action-approve');
    await button.click();
    await page.getByTestId('confirm-no').click();
    await button.click();
    await page.getByTestId('confirm-yes').click();
    await page.getByText('noted for').waitFor();
    expect(seen).toEqual([{ actionId: 'approve', value: 'plan-7', user: USERS.onCall }]);
  });

  it('shows an ephemeral answer to that person only, until it is dismissed', async () => {
    const { ts = '' } = await postButton(session, { confirm: false });
    await page.getByTestId(`message-${ts}`).getByTestId('action-approve').click();
    const note = page.locator('.message.is-ephemeral').last();
    await note.getByText('Only visible to you').waitFor();
    const other = await session.open(USERS.admin);
    await other.getByTestId(`message-${ts}`).waitFor();
    expect(await other.getByText('noted for').count()).toBe(0);
    const count = await page.locator('.message.is-ephemeral').count();
    await switchTo(page, USERS.stranger);
    expect(await page.getByText('noted for').count()).toBe(0);
    await switchTo(page, USERS.onCall);
    await note.getByText('Only visible to you').waitFor();
    await note.getByText('Dismiss').click();
    await expect.poll(() => page.locator('.message.is-ephemeral').count()).toBe(count - 1);
    await other.context().close();
  });

  it('opens a modal, shows the errors of the app beside the field, and submits', async () => {
    const ts = await postOpener(session);
    await page.getByTestId(`message-${ts}`).getByTestId('action-open_modal').click();
    const dialog = page.getByTestId('modal');
    await dialog.getByText('Deny this action').waitFor();
    await page.getByTestId('modal-submit').click();
    expect(await dialog.getByTestId('error-reason').innerText()).toContain('required');
    await dialog.getByTestId('action-why').fill('too short');
    await page.getByTestId('modal-submit').click();
    await dialog.getByText('Please say a little more.').waitFor();
    expect(await dialog.getByTestId('action-why').inputValue()).toBe('too short');
    await dialog.getByTestId('action-why').fill('another team owns this');
    await dialog.getByTestId('action-what').click();
    await page.getByTestId('option-leave').click();
    await page.getByTestId('modal-submit').click();
    await dialog.waitFor({ state: 'detached' });
    expect(submitted).toEqual([{ why: 'another team owns this', next: 'leave', about: 'approval-7' }]);
  });

  it('lays one modal over another, scrolls long output, and goes back to what was typed', async () => {
    const row = page.getByTestId(`message-${await postOpener(session)}`);
    await row.getByTestId('action-open_modal').click();
    const dialog = page.getByTestId('modal');
    await dialog.getByTestId('action-why').fill('a reason so far');
    await dialog.getByTestId('action-details').click();
    await dialog.getByText('Tool output').waitFor();
    const body = dialog.locator('.modal-body');
    expect(await body.evaluate((el) => el.scrollHeight > el.clientHeight)).toBe(true);
    expect(await dialog.boundingBox().then((box) => (box?.y ?? -1) >= 0 && (box?.height ?? 9999) < 860)).toBe(
      true,
    );
    await page.getByTestId('modal-back').click();
    expect(await dialog.getByTestId('action-why').inputValue()).toBe('a reason so far');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('can be used by keyboard alone', async () => {
    const { ts = '' } = await postButton(session, { confirm: true });
    const before = seen.length;
    await page.getByTestId(`message-${ts}`).getByTestId('action-approve').focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('confirm').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.getByTestId('confirm').locator(':focus').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.getByTestId('confirm').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByTestId('confirm').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => seen.length).toBe(before + 1);
  });

  it('fits a phone: channel, thread and buttons are reachable and nothing is wider than the screen', async () => {
    const { ts = '' } = await postButton(session, { confirm: false });
    await session.bot.client.chat.postMessage({ channel, thread_ts: ts, text: 'a reply' });
    const phone = await session.open(USERS.onCall2, '/', {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    });
    await phone.getByTestId('channel-alerts').tap();
    await phone.getByTestId(`replies-${ts}`).tap();
    await phone.getByTestId('thread').getByTestId('action-approve').tap();
    await expect.poll(() => seen.at(-1)?.user).toBe(USERS.onCall2);
    expect(await phone.locator('html').evaluate((el) => el.scrollWidth)).toBeLessThanOrEqual(360);
    await phone.goBack();
    await phone.getByTestId('thread').waitFor({ state: 'detached' });
    await phone.getByTestId('composer').waitFor();
    await phone.context().close();
  });

  it('completes and runs a slash command, and refuses one in a thread', async () => {
    const composer = page.getByTestId('composer');
    await composer.pressSequentially('/se');
    await page.getByTestId('suggestions').getByText('/sentry').waitFor();
    await composer.press('Enter');
    expect(await composer.inputValue()).toBe('/sentry ');
    await composer.pressSequentially('why INC-1');
    await composer.press('Enter');
    await page.getByText('you asked: why INC-1').waitFor();
    const { ts = '' } = await session.bot.client.chat.postMessage({ channel, text: 'a root' });
    await page.getByTestId(`message-${ts}`).hover();
    await page.getByTestId(`reply-${ts}`).click();
    await page.getByTestId('thread-composer').fill('/sentry why');
    await page.getByTestId('thread-composer').press('Enter');
    await page.getByTestId('toast').getByText('do not work in threads').waitFor();
    expect(await page.getByTestId('thread-composer').inputValue()).toBe('/sentry why');
    await page.getByTestId('thread-composer').fill('');
    await page.getByTestId('thread-close').click();
  });

  it('marks other channels unread and remembers who one is', async () => {
    await page.getByTestId('channel-general').click();
    await session.client.asUser(USERS.admin).say(CHANNELS.alerts, `look <@${USERS.onCall}>`);
    await page.getByTestId('channel-alerts').locator('.badge-mention').waitFor();
    await page.getByTestId('channel-alerts').click();
    await page.getByText('look').last().waitFor();
    await expect.poll(() => page.getByTestId('channel-alerts').locator('.badge').count()).toBe(0);
    await switchTo(page, USERS.admin);
    await page.goto(session.slack.url);
    await page.getByTestId('user-switch').waitFor();
    expect(await page.getByTestId('user-switch').getAttribute('data-user')).toBe(USERS.admin);
    await switchTo(page, USERS.onCall);
  });

  it('opens the Home tab of the app and a permalink to a message', async () => {
    await page.getByTestId('app-sentry').click();
    await page.getByTestId('home').getByText('All quiet').waitFor();
    const root = await session.bot.client.chat.postMessage({ channel, text: 'an older incident' });
    const { permalink = '' } = await session.bot.client.chat.getPermalink({
      channel,
      message_ts: root.ts ?? '',
    });
    await session.bot.client.chat.postMessage({ channel, text: `seen before: <${permalink}|INC-3>` });
    await page.getByTestId('channel-alerts').click();
    await page.getByRole('link', { name: 'INC-3' }).click();
    await page.locator(`.is-focused[data-ts="${root.ts ?? ''}"]`).waitFor();
    const direct = await session.open(USERS.onCall, new URL(permalink).pathname);
    await direct.locator(`[data-ts="${root.ts ?? ''}"]`).waitFor();
    await direct.context().close();
  });

  it('causes a fault and makes way for it, shows that it is there, and undoes it', async () => {
    await page.getByTestId('faults-open').click();
    await page.getByTestId('fault-cause-blocked-sessions').click();
    await page.getByTestId('faults').waitFor({ state: 'detached' });
    await page.getByTestId('faults-open').click();
    await page.getByTestId('fault-undo-blocked-sessions').click();
    await page.getByTestId('fault-cause-blocked-sessions').waitFor();
    expect(calls).toEqual(['/faults/blocked-sessions/cause', '/faults/blocked-sessions/undo']);
    await page.getByTestId('faults-close').click();
  });

  it('reports no error and no policy violation from any page', () => {
    expect(session.faults).toEqual([]);
  });
});
