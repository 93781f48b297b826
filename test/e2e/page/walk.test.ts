import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import type { Message } from '../../../playground/slack/slack-shapes.ts';
import { ACTIONS } from '../../../src/slack/views/blocks/slot.ts';
import { type Scene, setScene } from '../../support/matrix-scene.ts';
import { type WholeSlack, wholeSlack } from '../../support/whole-slack.ts';
import { keepScreenshot } from '../keep-screenshot.ts';
import { launchBrowser, openPage, withoutChromium } from './page-session.ts';

const WIDTHS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ['desktop', { viewport: { width: 1360, height: 860 } }],
];

/** Presses through what the product itself has drawn, as somebody on call would, and keeps what they see for people to look at. */
describe.skipIf(withoutChromium())('a walk through what the bot drew', () => {
  let at: WholeSlack;
  let browser: Browser;
  let scene: Scene;
  let root: Message;
  const faults: string[] = [];

  beforeAll(async () => {
    at = await wholeSlack();
    scene = await setScene(at, 'ok');
    const drawn = (slot: string) => (message: Message) =>
      message.blocks?.[0]?.block_id?.startsWith(`sentry:${scene.id}:${slot}`) ?? false;
    await at.client.waitForMessage(drawn('action'));
    root = await at.client.waitForMessage(drawn('root'));
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await at?.close();
  });

  const closeWindow = async (page: Page): Promise<void> => {
    await page.getByTestId('modal-close').click();
    await page.getByTestId('modal').waitFor({ state: 'detached' });
  };

  it.each(WIDTHS)('on a %s nothing is cut off, and every press is answered', async (name, context) => {
    const keep = (page: Page, what: string) => keepScreenshot(page, `walk-${name}-${what}`);
    const fits = async (page: Page): Promise<void> =>
      expect(await page.locator('html').evaluate((el) => el.scrollWidth)).toBeLessThanOrEqual(
        context.viewport?.width ?? 0,
      );
    const page = await openPage(browser, at.client.url, USERS.onCall, {
      ...context,
      faults,
    });
    await page.getByTestId('channel-alerts').click();
    const row = page.getByTestId(`message-${root.ts}`);
    await row.waitFor();
    await keep(page, 'root');
    await row.getByTestId(`action-${ACTIONS.more}`).click();
    await page.getByTestId(`option-severity:${scene.id}`).waitFor();
    await keep(page, 'menu');
    await page.getByTestId(`option-severity:${scene.id}`).click();
    await page.getByTestId('modal').getByText('How bad is').waitFor();
    await keep(page, 'severity');
    await fits(page);
    await closeWindow(page);

    await page.getByTestId(`replies-${root.ts}`).click();
    const thread = page.getByTestId('thread');
    const card = thread.locator(`[data-testid="action-${ACTIONS.approve}"]`);
    await card.waitFor();
    await card.evaluate((el) => el.scrollIntoView({ block: 'center' }));
    await keep(page, 'card');
    await thread.getByTestId(`action-${ACTIONS.deny}`).click();
    await page.getByTestId('modal').getByText('Why not?').waitFor();
    await keep(page, 'deny');
    await fits(page);
    await closeWindow(page);
    // A phone goes back, where there is no room for a thread beside its channel.
    const close = page.getByTestId('thread-close');
    await ((await close.isVisible()) ? close : page.getByLabel('Back to the channel')).click();
    await thread.waitFor({ state: 'detached' });

    const composer = page.getByTestId('composer');
    for (const [command, says] of [
      ['help', 'What I can do'],
      ['targets', 'shop-db (postgres'],
      ['oncall', '@oncall:'],
    ] as const) {
      await composer.fill(`/sentry ${command}`);
      await composer.press('Enter');
      const answer = page.locator('.message.is-ephemeral').last();
      await answer.getByText(says).first().waitFor();
      await answer.evaluate((el) => el.scrollIntoView({ block: 'start' }));
      await keep(page, command);
      await fits(page);
    }

    // So is the list of channels behind the channel there.
    const app = page.getByTestId('app-sentry');
    if (await app.isHidden()) await page.getByLabel('Show the channel list').click();
    await app.click();
    await page.getByTestId('home').getByText('Report a problem').first().waitFor();
    await keep(page, 'home');
    await fits(page);
    await page.context().close();
    expect(faults).toEqual([]);
  });
});
