import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import { keepScreenshot } from '../keep-screenshot.ts';
import { listen, seen } from './page-bot.ts';
import { type PageSession, startPageSession, withoutChromium } from './page-session.ts';

const channel = CHANNELS.alerts;
const PHONE = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
  colorScheme: 'dark',
} as const;

/** A thread is played again from what the local Slack recorded of it. */
describe.skipIf(withoutChromium())('the replay of an incident', () => {
  let session: PageSession;
  let page: Page;
  let rootTs = '';
  // The recording has the times of this clock: an hour, then half a second.
  let clock = Date.now();
  const thread = () => page.getByTestId('thread');
  const at = (text: string) => page.getByTestId('replay-at').getByText(text).waitFor();

  beforeAll(async () => {
    session = await startPageSession(listen, { now: () => clock });
    const { chat } = session.bot.client;
    const button = {
      type: 'actions' as const,
      elements: [
        {
          type: 'button' as const,
          action_id: 'approve',
          value: 'plan-1',
          text: { type: 'plain_text' as const, text: 'Approve' },
        },
      ],
    };
    const root = await chat.postMessage({ channel, text: 'looking into it' });
    rootTs = root.ts ?? '';
    clock += 3_600_000;
    await chat.postMessage({ channel, thread_ts: rootTs, text: 'the card', blocks: [button] });
    clock += 500;
    await chat.update({ channel, ts: rootTs, text: 'all is over' });
    page = await session.open(USERS.onCall, `/#/${channel}/${rootTs}`);
    await thread().getByText('all is over').waitFor();
  });
  afterAll(() => session.close());

  it('shows what was there then, told as a replay, by keyboard alone, and asks nobody', async () => {
    const before = await session.client.counters();
    await page.getByTestId('replay-open').focus();
    await page.keyboard.press('Enter');
    await at('1 of 3');
    await page.getByTestId('replay').getByText('Nothing here is live').waitFor();
    await thread().getByText('looking into it').waitFor();
    expect(await thread().getByText('all is over').count()).toBe(0);
    expect(await thread().getByTestId('action-approve').count()).toBe(0);
    // Nothing is written into it, either.
    expect(await thread().getByTestId('thread-composer').count()).toBe(0);

    // From *Pause*, where the focus is, to *Step*.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await at('2 of 3');
    await thread().getByTestId('action-approve').waitFor();
    await thread().getByText('looking into it').waitFor();
    // What is live goes on beside it, and is not in it.
    await session.bot.client.chat.postMessage({ channel, thread_ts: rootTs, text: 'a later word' });
    expect(await thread().getByText('a later word').count()).toBe(0);
    await thread().locator('[inert]').getByTestId('action-approve').waitFor();
    expect(seen).toEqual([]);
    await keepScreenshot(page, 'replay');

    // At its speed, the rest comes by itself.
    await page.getByTestId('replay-play').press('Enter');
    await at('3 of 3');
    await thread().getByText('all is over').waitFor();
    expect(await page.getByTestId('replay-play').textContent()).toContain('Again');
    const after = await session.client.counters();
    expect(after.events.sent - before.events.sent).toBe(1);

    await page.getByTestId('replay-play').press('Escape');
    await page.getByTestId('replay').waitFor({ state: 'detached' });
    await thread().getByText('a later word').waitFor();
    await thread().getByTestId('thread-composer').waitFor();
    expect(session.faults).toEqual([]);
  });

  it('fits a phone in the dark', async () => {
    page = await session.open(USERS.onCall, `/#/${channel}/${rootTs}`, PHONE);
    await page.getByTestId('replay-open').tap();
    await at('1 of 4');
    for (const button of ['play', 'step', 'speed-1', 'speed-60', 'end'])
      expect((await page.getByTestId(`replay-${button}`).boundingBox())?.x, button).toBeLessThan(390);
    expect(await page.locator('html').evaluate((el) => el.scrollWidth)).toBeLessThanOrEqual(390);
    await page.getByTestId('replay-speed-60').tap();
    await page.locator('[data-testid="replay-speed-60"][aria-pressed="true"]').waitFor();
    await keepScreenshot(page, 'replay-phone-dark');
    await page.getByTestId('replay-end').tap();
    await page.getByTestId('replay').waitFor({ state: 'detached' });
    expect(session.faults).toEqual([]);
  });

  it('is not of channels that one is not in, nor of what was not recorded', async () => {
    const asked = { channel: CHANNELS.admin, thread_ts: '1.1' };
    expect(await session.client.act('thread.recording', { userId: USERS.stranger, ...asked })).toMatchObject({
      ok: false,
      error: 'not_in_channel',
    });
    expect(await session.client.act('thread.recording', { userId: USERS.admin, ...asked })).toMatchObject({
      ok: true,
      frames: [],
    });
  });
});
