import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { messageOf } from '../../../src/slack/outbound/message.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { ACTIONS } from '../../../src/slack/views/blocks/slot.ts';
import { ACTION, INCIDENT } from '../../support/incident-record.ts';
import { recordAt, recordedIncidents } from '../../support/recorded-incidents.ts';
import { keepScreenshot } from '../keep-screenshot.ts';
import { channel } from './page-bot.ts';
import { type PageSession, startPageSession, withoutChromium } from './page-session.ts';

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const atCard = (events: readonly IncidentEventBody[]): number =>
  events.findIndex(({ type }) => type === 'action.proposed') + 2;

/** A thread up to its open card, as it is drawn. */
const thread = (name: string) => {
  const recorded = recordedIncidents.find((each) => each.name === name);
  if (!recorded) throw new Error(`no incident “${name}” is recorded`);
  const record = recordAt(recorded, atCard(recorded.events));
  return draw(record, { threadUrl: () => null, approvers: '@oncall', ring: [USERS.onCall] });
};

const NAMES = [
  ['as usual', 'one repair, approved and fixed'],
  ['of three steps', 'a plan of three steps, of which the second fails'],
  ['with long words', 'a model with many and long words'],
] as const;

describe.skipIf(withoutChromium()).each(NAMES)('an open card %s, on a phone', (kind, name) => {
  let session: PageSession;
  let rootTs: string;
  let cardTs: string;

  beforeAll(async () => {
    session = await startPageSession(() => {});
    for (const slot of thread(name)) {
      const root = slot.inThread ? { thread_ts: rootTs } : {};
      const { ts = '' } = await session.bot.client.chat.postMessage({
        channel,
        ...root,
        ...messageOf(INCIDENT, slot),
      } as Parameters<typeof session.bot.client.chat.postMessage>[0]);
      if (!slot.inThread) rootTs = ts;
      if (slot.slot === `action:${ACTION}`) cardTs = ts;
    }
  });

  afterAll(() => session?.close());

  /** The thread with the card at the top of what is seen of it, below Slack's header and above its composer. */
  async function openCard(colorScheme: 'light' | 'dark'): Promise<Page> {
    const page = await session.open(USERS.onCall, `/#/${channel}/${rootTs}`, { ...PHONE, colorScheme });
    const card = page.getByTestId('thread').locator(`[data-ts="${cardTs}"]`);
    await card.waitFor();
    await card.evaluate((el) => el.scrollIntoView({ block: 'start' }));
    return page;
  }

  it.each(['light', 'dark'] as const)('has its buttons on its first screen, in %s', async (colorScheme) => {
    const page = await openCard(colorScheme);
    await keepScreenshot(page, `card-phone-${kind.replaceAll(' ', '-')}-${colorScheme}`);
    const pane = page.getByTestId('thread');
    const top = (await pane.locator('.scroller').boundingBox())?.y ?? 0;
    const composer = await page.getByTestId('thread-composer').boundingBox();
    const card = pane.locator(`[data-ts="${cardTs}"]`);
    const cardTop = (await card.boundingBox())?.y ?? 0;
    // Slack's own header and composer are on the screen as well: what is between them is the first screen.
    expect(top).toBeGreaterThan(40);
    expect(composer?.y).toBeLessThan(PHONE.viewport.height - 40);
    const room = (composer?.y ?? 0) - top;
    for (const action of [ACTIONS.approve, ACTIONS.deny]) {
      const button = await card.getByTestId(`action-${action}`).boundingBox();
      expect(button, action).not.toBeNull();
      expect((button?.y ?? 0) - cardTop).toBeGreaterThan(0);
      expect((button?.y ?? 0) - cardTop + (button?.height ?? 0), action).toBeLessThanOrEqual(room);
      expect((button?.x ?? 0) + (button?.width ?? 0), action).toBeLessThanOrEqual(PHONE.viewport.width);
    }
    await page.context().close();
  });

  it('without an error or a violation of the page’s policy', () => {
    expect(session.faults).toEqual([]);
  });
});
