import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../playground/slack/seed.ts';
import { type LocalSlackClient, textOf } from '../support/local-slack.ts';
import { type Product, slackOf, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import { GREEN, type IncidentThread, nextThread, stripOf } from './incident-thread.ts';
import { keepScreenshot } from './keep-screenshot.ts';
import { launchBrowser, openPage, withoutChromium } from './page/page-session.ts';
import { openShopDb, type ShopDb } from './shop-db.ts';

// design.md §9, as a newcomer lives it: the tests are its stages and run in this order.
describe.skipIf(withoutChromium())('the scene in the browser', () => {
  const dataDir = scratchDir();
  const faults: string[] = [];
  const known: string[] = [];
  let product: Product;
  let slack: LocalSlackClient;
  let shop: ShopDb;
  let browser: Browser;
  let olivia: Page;
  let first: IncidentThread;
  let blocker: number;

  const open = (userId: string, path?: string, options = {}): Promise<Page> =>
    openPage(browser, slack.url, userId, { faults, ...(path ? { path } : {}), ...options });
  const threadPath = (thread: IncidentThread): string => `/#/${CHANNELS.alerts}/${thread.rootTs}`;
  const inThread = (page: Page) => page.getByTestId('thread');

  /** Presses *Cause* in the page's panel and opens the thread of the incident that follows. */
  async function cause(faultId: string): Promise<IncidentThread> {
    await olivia.getByTestId('faults-open').click();
    await olivia.getByTestId(`fault-cause-${faultId}`).click();
    const thread = await nextThread(slack, known);
    known.push(thread.rootTs);
    await olivia.getByTestId('channel-alerts').click();
    await olivia.getByTestId(`replies-${thread.rootTs}`).click();
    await inThread(olivia).waitFor();
    return thread;
  }

  /** Types a command where people type, and gives the answer that only they see. */
  async function ask(page: Page, command: string): Promise<string> {
    const answers = page.locator('.main-column .message.is-ephemeral');
    const before = await answers.count();
    await page.getByTestId('composer').fill(command);
    await page.getByTestId('composer').press('Enter');
    await expect.poll(() => answers.count()).toBe(before + 1);
    return answers.last().innerText();
  }

  beforeAll(async () => {
    product = await startProduct({ dataDir });
    slack = slackOf(product);
    shop = openShopDb(dataDir);
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await shop?.close();
    await product?.stop();
  });

  it('starts from nothing and prints the page to open', async () => {
    expect(product.output()).toContain(`Open ${product.pageUrl}`);
    olivia = await open(USERS.onCall);
    await olivia.getByTestId('bot-state').getByText('Sentry is connected').waitFor();
    await olivia.getByTestId('channel-alerts').click();
    await olivia.getByText('Press “Cause an incident”').waitFor();
    await keepScreenshot(olivia, '01-quiet');
  });

  it('turns a real fault into an alert in #alerts and a thread', async () => {
    first = await cause('blocked_sessions');
    const [pid, ...others] = await shop.rootBlockers();
    expect(others).toEqual([]);
    blocker = pid as number;
    const alert = olivia.locator('.message', { hasText: '[FIRING:1] PostgresBlockedSessions' });
    await alert.first().waitFor();
    const root = olivia.getByTestId(`message-${first.rootTs}`);
    expect(await root.innerText()).toMatch(/INC-1 · critical · shop-db/);
    await keepScreenshot(olivia, '02-investigating');
  });

  it('names the session that really blocks the others, with the output to prove it', async () => {
    const progress = await first.reply(/Investigated .*· almost certain/);
    await slack.waitForMessage(
      (message) => message.ts === first.rootTs && textOf(message).includes(`Session ${blocker} `),
    );
    const shown = inThread(olivia).getByTestId(`thread-reply-${progress.ts}`);
    await shown.getByText('Evidence').click();
    const modal = olivia.getByTestId('modal');
    await modal.getByText('Show output').first().click();
    await modal.getByText(`root: pid ${blocker} `).waitFor();
    await keepScreenshot(olivia, '03-output');
    await olivia.getByTestId('modal-close').click();
    await modal.waitFor({ state: 'detached' });
  });

  it('proposes to terminate exactly that session, and nothing has happened yet', async () => {
    const { message, command } = await first.card();
    expect(command).toMatch(
      new RegExp(
        `^SELECT pg_terminate_backend\\(pid\\) FROM pg_stat_activity WHERE pid = ${blocker} AND backend_start = '[^']+'$`,
      ),
    );
    const card = inThread(olivia).getByTestId(`thread-reply-${message.ts}`);
    const asked = await card.innerText();
    for (const part of [/(?:Touches|Costs):/, /Undo:/, /until/]) expect(asked).toMatch(part);
    const fold = card.getByTestId('container-toggle');
    // A second try finds it as the first has left it.
    if ((await fold.getAttribute('aria-expanded')) === 'false') {
      expect(asked).not.toContain(command);
      await fold.click();
    }
    await card.getByText('Risk:').waitFor();
    const words = await card.innerText();
    expect(words).toContain(command);
    for (const part of ['Why:', 'Risk:', 'Seen just before:']) expect(words).toContain(part);
    expect(await shop.hasSession(blocker)).toBe(true);
    await card.scrollIntoViewIfNeeded();
    await keepScreenshot(olivia, '04-card');
  });

  it('refuses the stranger’s click with an answer that only they see', async () => {
    const sam = await open(USERS.stranger, threadPath(first));
    await inThread(sam).getByTestId('action-sentry_approve').click();
    await sam.getByText(/^Only .+ may approve this/).waitFor();
    await keepScreenshot(sam, '05-stranger-refused');
    expect(await olivia.getByText(/^Only .+ may approve this/).count()).toBe(0);
    expect(await shop.hasSession(blocker)).toBe(true);
    expect(await shop.waiting()).toBeGreaterThan(0);
    await sam.context().close();
  });

  it('runs it once when the on-call engineer approves, and the lock is really gone', async () => {
    await inThread(olivia).getByTestId('action-sentry_approve').click();
    await waitFor('the blocker to be gone', async () => !(await shop.hasSession(blocker)));
    await waitFor('nobody to wait for it', async () => (await shop.rootBlockers()).length === 0);
    await inThread(olivia)
      .getByText(/^✓ Ended/)
      .first()
      .waitFor();
    expect(await inThread(olivia).getByTestId('action-sentry_approve').count()).toBe(0);
  });

  it('says fixed after looking, and the root turns green', async () => {
    const root = await first.resolved();
    expect(stripOf(root)).toBe(GREEN);
    const fixed = await first.reply(/Fixed/);
    await inThread(olivia).getByTestId(`thread-reply-${fixed.ts}`).getByText('Fixed').first().waitFor();
    const strip = olivia.getByTestId(`message-${first.rootTs}`).locator('.attachment').last();
    await expect.poll(() => strip.innerText()).toContain('Resolved');
    expect(await strip.evaluate((el) => el.style.getPropertyValue('--bar'))).toBe(GREEN);
    expect(await olivia.getByTestId(`message-${first.rootTs}`).innerText()).toMatch(/Approved by @olivia/i);
    await keepScreenshot(olivia, '06-fixed');
  });

  it('reads well in the dark, in the light and on a phone', async () => {
    const { replies } = first;
    for (const [name, options] of [
      ['dark', { colorScheme: 'dark' }],
      ['light', { colorScheme: 'light' }],
      ['phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
    ] as const) {
      const page = await open(USERS.onCall2, threadPath(first), options);
      const last = (await replies()).at(-1);
      await inThread(page)
        .getByTestId(`thread-reply-${last?.ts ?? ''}`)
        .waitFor();
      const width = page.viewportSize()?.width ?? 0;
      expect(await page.locator('html').evaluate((el) => el.scrollWidth)).toBeLessThanOrEqual(width);
      await keepScreenshot(page, `07-thread-${name}`);
      await page.context().close();
    }
  });

  it('tells who, what, when and why when it is asked in the composer', async () => {
    const why = await ask(olivia, '/sentry why INC-1');
    for (const part of [
      'INC-1',
      `pid = ${blocker}`,
      'approved by',
      'Session',
      'What happened',
      'no model was used',
    ])
      expect(why).toContain(part);
    expect(await ask(olivia, '/sentry status')).toContain('Mode ACTIVE');
    expect(await ask(olivia, '/sentry incidents')).toMatch(/INC-1 .*Resolved/);
    expect(await ask(olivia, '/sentry help')).toContain('/sentry why');
    await keepScreenshot(olivia, '08-commands');
  });

  it('answers a mention in the thread from the record', async () => {
    const before = (await first.replies()).length;
    await olivia.getByTestId('thread-composer').fill('@Sentry who approved this?');
    await olivia.getByTestId('thread-composer').press('Enter');
    await waitFor('an answer', async () => (await first.replies()).length > before);
    const answer = (await first.replies()).at(-1);
    expect(answer && textOf(answer)).toMatch(/^Approved by @olivia/);
    await inThread(olivia)
      .getByTestId(`thread-reply-${answer?.ts ?? ''}`)
      .getByText('Approved by')
      .first()
      .waitFor();
    await keepScreenshot(olivia, '09-mention');
  });

  it('does not claim to have seen a different fault before, and takes a reasoned no', async () => {
    const other = await cause('idle_in_transaction');
    const { message } = await other.card();
    expect((await other.replies()).map(textOf).join('\n')).not.toContain('Seen before');
    const card = inThread(olivia).getByTestId(`thread-reply-${message.ts}`);
    await card.getByTestId('action-sentry_deny').click();
    const modal = olivia.getByTestId('modal');
    await modal.getByText('Why not?').waitFor();
    await olivia.getByTestId('modal-submit').click();
    await modal.getByTestId('error-reason').waitFor();
    await modal.getByTestId('action-reason').fill('A colleague is using that session.');
    await keepScreenshot(olivia, '10-deny');
    await olivia.getByTestId('modal-submit').click();
    await modal.waitFor({ state: 'detached' });
    await card.getByText('A colleague is using that session.').waitFor();
    expect(await card.getByTestId('action-sentry_approve').count()).toBe(0);
    await shop.fault('idle_in_transaction', 'undo');
    await other.over();
  });

  it('knows the same fault again, and the link opens the first thread', async () => {
    const again = await cause('blocked_sessions');
    await again.card();
    await inThread(olivia).getByText('Last time:').first().waitFor();
    await keepScreenshot(olivia, '11-seen-before');
    await inThread(olivia)
      .getByRole('link', { name: /^INC-1$/ })
      .first()
      .click();
    await inThread(olivia).getByTestId(`thread-root-${first.rootTs}`).waitFor();
    expect(await inThread(olivia).innerText()).toContain('🟢 Fixed ·');
    await shop.fault('blocked_sessions', 'undo');
    await again.over();
  });

  it('posted nothing twice, and no page reported a fault', async () => {
    expect((await slack.counters()).duplicates).toEqual([]);
    expect(faults).toEqual([]);
  });
});
