import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNELS, USERS } from '../../../playground/slack/seed.ts';
import { everyBlock } from './every-block.ts';
import { type PageSession, startPageSession, withoutChromium } from './page-session.ts';

const channel = CHANNELS.alerts;
const ATTACKS = [
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '<javascript:alert(1)|click me>',
  '[click](javascript:alert(1)) ![x](javascript:alert(1))',
  '"><svg onload=alert(1)>',
  '&lt;img src=x onerror=alert(1)&gt;',
  '*<b onclick=alert(1)>bold</b>* `<i>code</i>`',
] as const;

describe.skipIf(withoutChromium())('text from apps and people stays text', () => {
  let session: PageSession;
  let page: Page;

  beforeAll(async () => {
    session = await startPageSession(() => {});
    page = await session.open(USERS.onCall);
  });

  afterAll(() => session?.close());

  it.each(ATTACKS)('in every field of every block: %s', async (attack) => {
    const sent: string[] = [];
    for (const blocks of everyBlock(attack)) {
      const { ts = '' } = await session.bot.client.chat.postMessage({ channel, text: attack, blocks });
      sent.push(ts);
    }
    const attached = await session.bot.client.chat.postMessage({
      channel,
      text: attack,
      attachments: [
        {
          color: 'red;background:url(//evil)',
          pretext: attack,
          title: attack,
          title_link: 'javascript:alert(1)',
          text: attack,
          footer: attack,
          fallback: attack,
          fields: [{ title: attack, value: attack, short: true }],
        },
      ],
    });
    sent.push(attached.ts ?? '');
    await session.client.asUser(USERS.admin).say(channel, attack);
    for (const ts of sent) {
      const row = page.getByTestId(`message-${ts}`);
      await row.waitFor();
      expect(await row.locator('.unknown').count()).toBe(0);
    }
    expect(await dangers(page)).toEqual([]);
    expect(session.faults).toEqual([]);
  });

  it.each(['>', '- ', '**', '['])('shows Markdown nested without end: %s', async (mark) => {
    const text = mark.repeat(5_000);
    const blocks = [{ type: 'markdown' as const, text }];
    const { ts = '' } = await session.bot.client.chat.postMessage({ channel, text: 'deep', blocks });
    await page.getByTestId(`message-${ts}`).locator('.markdown').waitFor();
    expect(session.faults).toEqual([]);
  });

  it('shows escaped markup as the characters themselves', async () => {
    const { ts = '' } = await session.bot.client.chat.postMessage({
      channel,
      text: 'a &lt;b&gt; &amp;amp; c',
    });
    expect(await page.getByTestId(`message-${ts}`).locator('.b-text').innerText()).toBe('a <b> &amp; c');
  });
});

/** Anything in the document that could only have come from a message. */
function dangers(page: Page): Promise<string[]> {
  return page.locator('body').evaluate((body) => {
    const found: string[] = [];
    for (const el of body.querySelectorAll('*')) {
      const names = el.getAttributeNames();
      const risky = names.filter((name: string) => name.startsWith('on') || name === 'srcdoc');
      const scheme = /^\s*(javascript|vbscript|data:text)/i.test(
        el.getAttribute('href') ?? el.getAttribute('src') ?? '',
      );
      if (risky.length > 0 || scheme) found.push(el.outerHTML.slice(0, 200));
      if (
        ['SCRIPT', 'IFRAME', 'OBJECT', 'EMBED', 'B', 'I'].includes(el.tagName) &&
        !el.closest('.status-dots')
      )
        found.push(el.outerHTML.slice(0, 200));
    }
    return found;
  });
}
