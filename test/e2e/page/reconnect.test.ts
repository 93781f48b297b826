import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalSlack, type LocalSlack } from '../../../playground/slack/local-slack.ts';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import { LocalSlackClient } from '../../support/local-slack.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { launchBrowser, withoutChromium } from './page-session.ts';

describe.skipIf(withoutChromium())('the page when the local Slack goes away', () => {
  let browser: Browser;
  let slack: LocalSlack;

  beforeAll(async () => {
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await slack?.close();
  });

  it('says so, keeps what is half typed, and shows what it missed when it is back', async () => {
    const dataDir = scratchDir();
    slack = await createLocalSlack({ dataDir });
    const port = Number(new URL(slack.url).port);
    const page = await browser.newPage();
    await page.goto(`${slack.url}?user=${USERS.onCall}`);
    await page.getByTestId('composer').fill('half a thought');
    await slack.close();
    await page.getByTestId('connection-lost').waitFor();
    slack = await createLocalSlack({ dataDir, port });
    await new LocalSlackClient(slack.url).asUser(USERS.admin).say(CHANNELS.alerts, 'you missed this');
    await page.getByText('you missed this').waitFor();
    await page.getByTestId('connection-lost').waitFor({ state: 'detached' });
    expect(await page.getByTestId('composer').inputValue()).toBe('half a thought');
    await page.getByTestId('composer').press('Enter');
    await page.locator('.message', { hasText: 'half a thought' }).waitFor();
  });
});
