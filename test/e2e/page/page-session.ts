import { existsSync } from 'node:fs';
import { App, LogLevel } from '@slack/bolt';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import {
  createLocalSlack,
  type LocalSlack,
  type LocalSlackOptions,
} from '../../../playground/slack/local-slack.ts';
import { SENTRY_APP } from '../../../playground/slack/seed.ts';
import { LocalSlackClient } from '../../support/local-slack.ts';

const CHROMIUM = '/usr/bin/chromium';
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * True when the tests cannot run here: no Chromium. In CI they run and fail instead.
 * The reason is printed, because a silent skip looks like a pass.
 */
export function withoutChromium(): boolean {
  // oxlint-disable-next-line node/no-process-env -- the one switch that CI is known by
  if (existsSync(CHROMIUM) || process.env['CI'] === 'true') return false;
  process.stderr.write(`skipped: tests of the page need ${CHROMIUM} (apt-get install chromium)\n`);
  return true;
}

/** A Chromium of this test's own. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ARGS });
}

/** The page as one person sees it, in a browser context of its own. What goes wrong inside it is added to `faults`. */
export async function openPage(
  browser: Browser,
  url: string,
  userId: string,
  options: BrowserContextOptions & { readonly faults: string[]; readonly path?: string },
): Promise<Page> {
  const { faults, path = '/', ...contextOptions } = options;
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...contextOptions });
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('dialog', (dialog) => {
    faults.push(`a script opened a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content Security Policy|not allowed/.test(message.text())) faults.push(message.text());
  });
  const [before, hash = ''] = path.split('#');
  await page.goto(`${url}${before}?user=${userId}${hash === '' ? '' : `#${hash}`}`);
  await page.getByTestId('user-switch').waitFor({ state: 'attached' });
  return page;
}

/** The real local Slack, a real Bolt app on Socket Mode, and a real browser. */
export interface PageSession {
  readonly slack: LocalSlack;
  readonly client: LocalSlackClient;
  readonly bot: App;
  /** The page as one person sees it, in a browser of its own; fails on any error the page reports. */
  open(userId: string, path?: string, options?: BrowserContextOptions): Promise<Page>;
  /** What went wrong inside pages: uncaught errors and policy violations. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

/** `listen` adds the bot's listeners before it connects. */
export async function startPageSession(
  listen: (bot: App) => void,
  options: LocalSlackOptions = {},
): Promise<PageSession> {
  const slack = await createLocalSlack({ rateLimits: { enabled: false }, ...options });
  const client = new LocalSlackClient(slack.url);
  const bot = new App({
    token: SENTRY_APP.botToken,
    appToken: SENTRY_APP.appToken,
    socketMode: true,
    logLevel: LogLevel.ERROR,
    clientOptions: { slackApiUrl: slack.apiUrl },
  });
  listen(bot);
  await bot.start();
  await client.waitForBot();
  const browser = await launchBrowser();
  const faults: string[] = [];
  return {
    slack,
    client,
    bot,
    faults,
    open: (userId, path = '/', contextOptions = {}) =>
      openPage(browser, slack.url, userId, { faults, path, ...contextOptions }),
    async close() {
      await browser.close();
      await bot.stop();
      await slack.close();
    },
  };
}
