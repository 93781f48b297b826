import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../playground/slack/seed.ts';
import type { Message } from '../../playground/slack/slack-shapes.ts';
import { alertmanagerBody } from '../support/alerts.ts';
import { type LocalSlackClient, textOf } from '../support/local-slack.ts';
import { type Product, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { type IncidentThread, nextThread } from './incident-thread.ts';
import { keepScreenshot } from './keep-screenshot.ts';
import { launchBrowser, openPage, withoutChromium } from './page/page-session.ts';

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const;

/** What Olivia makes of her note: prose for people, and one step for the playbook. */
const runbook = `---
id: nightly-report
title: The nightly report keeps its transaction open
domain: postgres
version: 1
type: nightly_report
matches:
  alerts: [NightlyReportStuck]
requires: { step: idle, when: result.idle_count > 0, bad: present }
---

# The nightly report keeps its transaction open

Kim's report begins at 02:00 and forgets to commit. Nobody else can write to orders until it ends.

## Is it still there?

\`\`\`yaml step
id: idle
call: postgres_idle_in_transaction
with: { min_seconds: 0 }
why: Looking for the report's transaction
checks:
  - when: result.idle_count == 0
    healthy: The report has ended its transaction.
  - cannot_tell:
      says: A session is idle in a transaction.
      next: Ask Kim whether it is the report.
\`\`\`
`;

// Done-when 6 of the memory part: the tests are the stages of one walk and run in this order.
describe.skipIf(withoutChromium())('a note becomes everybody’s memory', () => {
  const faults: string[] = [];
  let product: Product;
  let slack: LocalSlackClient;
  let browser: Browser;
  let olivia: Page;
  let amara: Page;
  let thread: IncidentThread;

  const open = (userId: string, path: string, options: BrowserContextOptions = {}): Promise<Page> =>
    openPage(browser, slack.url, userId, { faults, path, ...options });
  const inThread = (page: Page) => page.getByTestId('thread');
  const modal = (page: Page) => page.getByTestId('modal');
  const raise = (alertname: string) =>
    fetch(`${product.httpUrl}/webhooks/alertmanager`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alertmanagerBody({ alertname, instance: 'shop-db' })),
    });
  const card = (words: RegExp): Promise<Message> =>
    slack.waitForMessage(
      (message) => message.channel === CHANNELS.admin && words.test(textOf(message)),
      30_000,
    );
  const onCard = async (page: Page, words: RegExp) => page.getByTestId(`message-${(await card(words)).ts}`);
  /** Nothing is wider than the screen. */
  async function fits(page: Page): Promise<void> {
    const width = page.viewportSize()?.width ?? 0;
    expect(await page.locator('html').evaluate((el) => el.scrollWidth)).toBeLessThanOrEqual(width);
  }

  beforeAll(async () => {
    product = await startProduct({ dataDir: scratchDir() });
    slack = slackOf(product);
    browser = await launchBrowser();
    await raise('SomethingOdd');
    thread = await nextThread(slack);
  });

  afterAll(async () => {
    await browser?.close();
    await product?.stop();
    expect(faults).toEqual([]);
  });

  it('is kept for the incident when the on-call engineer says so in its thread', async () => {
    olivia = await open(USERS.onCall, `/#/${CHANNELS.alerts}/${thread.rootTs}`);
    await inThread(olivia).waitFor();
    await olivia
      .getByTestId('thread-composer')
      .fill('remember: Kim’s nightly report keeps its transaction open');
    await olivia.getByTestId('thread-composer').press('Enter');
    await inThread(olivia).getByText(`Remembered for ${thread.id}`).waitFor();
    await keepScreenshot(olivia, '20-remembered');
  });

  it('is proposed with what an admin has to know, as a runbook with a step', async () => {
    await inThread(olivia).getByTestId('action-sentry_memory_propose').click();
    await modal(olivia).getByTestId('action-title').fill('The nightly report keeps its transaction open');
    await modal(olivia).getByTestId('action-text_0').fill(runbook.replace('postgres_idle', 'postgres_magic'));
    await modal(olivia)
      .getByTestId('action-why')
      .fill('It comes every second Sunday, and Kim is easy to ask.');
    await modal(olivia).getByTestId('modal-submit').click();
    await modal(olivia).getByText('there is no tool "postgres_magic').waitFor();
    await keepScreenshot(olivia, '21-propose-refused');
    await modal(olivia).getByTestId('action-text_0').fill(runbook);
    await modal(olivia).getByTestId('modal-submit').click();
    await modal(olivia).waitFor({ state: 'detached' });
    await inThread(olivia).getByText('It waits for an admin.').waitFor();
  });

  it('is shown in the admin channel once its step has run on the real shop-db', async () => {
    const shown = textOf(await card(/✓ Tried on shop-db/));
    for (const words of [
      'postgres_idle_in_transaction',
      'Safety scanner: nothing found',
      'every second Sunday',
    ])
      expect(shown).toContain(words);
  });

  it('is not for a stranger who joins the channel to decide, nor for the on-call engineer', async () => {
    const sam = await open(USERS.stranger, `/#/${CHANNELS.admin}`);
    await sam.getByTestId('join').click();
    await sam.getByTestId('composer').waitFor();
    await (await onCard(sam, /✓ Tried/)).getByTestId('action-sentry_promotion_approve').click();
    await sam.getByText('Only admins decide what everybody’s memory says.').waitFor();
    await sam.getByTestId('composer').fill('/sentry promotions');
    await sam.getByTestId('composer').press('Enter');
    await sam.getByText('Only admins see and decide them').waitFor();
    await keepScreenshot(sam, '22-stranger-refused');
    await sam.context().close();

    await olivia.getByTestId('channel-sentry-admin').click();
    await (await onCard(olivia, /✓ Tried/)).getByTestId('action-sentry_promotion_approve').click();
    await olivia.getByText('Only admins decide what everybody’s memory says.').waitFor();
    await keepScreenshot(olivia, '23-on-call-refused');
    expect(textOf(await card(/nightly report/))).not.toMatch(/Approved .*by/);
  });

  it('reads well on the admin’s phone, with where it came from', async () => {
    amara = await open(USERS.admin, `/#/${CHANNELS.admin}`, phone);
    const shown = await onCard(amara, /✓ Tried/);
    await shown.getByTestId('action-sentry_promotion_approve').waitFor();
    await shown.scrollIntoViewIfNeeded();
    await fits(amara);
    await keepScreenshot(amara, '24-card-phone');
    await shown.getByTestId('action-sentry_promotion_approve').scrollIntoViewIfNeeded();
    await keepScreenshot(amara, '25-card-phone-buttons');
    await shown.getByTestId('action-sentry_promotion_sources').click();
    await modal(amara).getByText(thread.id).waitFor();
    await fits(amara);
    await keepScreenshot(amara, '26-sources-phone');
    await amara.getByTestId('modal-close').click();
  });

  it('is approved with the admin’s edit, once, and the thread is told', async () => {
    await (await onCard(amara, /✓ Tried/)).getByTestId('action-sentry_promotion_edit').click();
    const text = modal(amara).getByTestId('action-content_0');
    await text.fill(runbook.replace('Kim’s report', 'The report').replace('Ask Kim', 'Ask the orders team'));
    await fits(amara);
    await keepScreenshot(amara, '27-edit-phone');
    await modal(amara).getByTestId('modal-submit').click();
    await modal(amara).getByText('is now part of everybody’s memory').waitFor({ timeout: 20_000 });
    await amara.getByTestId('modal-close').click();
    const decided = await onCard(amara, /Approved with edits by/);
    expect(await decided.getByTestId('action-sentry_promotion_approve').count()).toBe(0);
    await decided.scrollIntoViewIfNeeded();
    await keepScreenshot(amara, '28-approved-phone');
    await olivia.getByTestId('channel-alerts').click();
    await olivia.getByTestId(`replies-${thread.rootTs}`).click();
    await inThread(olivia).getByText('everybody’s memory now has').waitFor();
    await keepScreenshot(olivia, '29-thread-told');
  });

  it('is opened with its history, and what an admin may do with it', async () => {
    await (await onCard(amara, /Approved with edits by/))
      .getByTestId('action-sentry_memory_document')
      .click();
    await modal(amara).getByText('Ask the orders team').waitFor();
    await modal(amara).getByTestId('action-sentry_memory_retire').waitFor();
    await fits(amara);
    await keepScreenshot(amara, '30-document-phone');
    await amara.getByTestId('modal-close').click();
  });

  it('is followed by the playbook at the next alert of its name', async () => {
    const next = (await slack.messages()).map(({ ts }) => ts);
    await raise('NightlyReportStuck');
    const second = await nextThread(slack, next);
    const progress = await second.reply(/Investigated/);
    await slack.asUser(USERS.onCall).press(progress, { actionId: 'sentry_steps' });
    await slack.waitForView(USERS.onCall, (view) => JSON.stringify(view).includes('Known problem: '));
    await slack.asUser(USERS.onCall).press(progress, { actionId: 'sentry_diagnosis' });
    await slack.waitForView(USERS.onCall, (view) =>
      JSON.stringify(view).includes('The report has ended its transaction'),
    );
  });
});
