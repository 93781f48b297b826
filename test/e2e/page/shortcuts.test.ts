import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import { channel } from './page-bot.ts';
import { type PageSession, startPageSession, withoutChromium } from './page-session.ts';

describe.skipIf(withoutChromium())('behind the three dots of a message', () => {
  const chosen: Record<string, unknown>[] = [];
  let session: PageSession;

  beforeAll(async () => {
    session = await startPageSession((bot) => {
      bot.shortcut(/.*/, async ({ ack, body, respond }) => {
        await ack();
        chosen.push(body as unknown as Record<string, unknown>);
        await respond({ response_type: 'ephemeral', text: 'It is looked into.' });
      });
    });
  });
  afterAll(() => session?.close());

  it('stand the shortcuts of the app; one that is chosen is told to it with the message, and answered', async () => {
    const { ts = '' } = await session.bot.client.chat.postMessage({ channel, text: 'checkout is slow' });
    const page = await session.open(USERS.onCall, `/#/${channel}`);
    const row = page.getByTestId(`message-${ts}`);
    await row.hover();
    await page.getByTestId(`more-${ts}`).click();
    for (const name of ['Add to memory', 'Not an incident']) await page.getByText(name).waitFor();
    await page.getByText('Investigate this').click();
    await page.getByText('It is looked into.').waitFor();
    expect(chosen).toMatchObject([
      {
        type: 'message_action',
        callback_id: 'investigate_message',
        trigger_id: expect.any(String),
        response_url: expect.stringMatching(/^http/),
        message_ts: ts,
        channel: { id: channel },
        user: { id: USERS.onCall },
        message: { type: 'message', ts, text: 'checkout is slow' },
      },
    ]);
  });
});
