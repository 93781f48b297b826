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

/** How far a record goes: its card waits, or one of two has approved it. */
type Until = 'action.proposed' | 'action.seconded';
const atCard = (events: readonly IncidentEventBody[], until: Until): number =>
  events.findIndex(({ type }) => type === until) + (until === 'action.proposed' ? 2 : 1);

/** A thread up to its open card, as it is drawn. */
const thread = (name: string, until: Until) => {
  const recorded = recordedIncidents.find((each) => each.name === name);
  if (!recorded) throw new Error(`no incident “${name}” is recorded`);
  const record = recordAt(recorded, atCard(recorded.events, until));
  return draw(record, { threadUrl: () => null, approvers: '@oncall', ring: [USERS.onCall] });
};

const NAMES = [
  ['as usual', 'one repair, approved and fixed', 'action.proposed'],
  ['of three steps', 'a plan of three steps, of which the second fails', 'action.proposed'],
  ['of four steps', 'a plan of four steps', 'action.proposed'],
  ['of twelve dangerous steps', 'a plan of twelve steps', 'action.proposed'],
  ['for two people', 'a high risk that two people decide', 'action.proposed'],
  ['for one more person', 'a high risk that two people decide', 'action.seconded'],
  ['with long words', 'a model with many and long words', 'action.proposed'],
  ['with long names', 'names as long as they get, and two people who decide', 'action.seconded'],
] as const;

describe.skipIf(withoutChromium()).each(NAMES)('an open card %s, on a phone', (kind, name, until) => {
  let session: PageSession;
  let rootTs: string;
  let cardTs: string;

  beforeAll(async () => {
    session = await startPageSession(() => {});
    for (const slot of thread(name, until)) {
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
    // What is decided on, above its buttons: the act with its object, and what it means.
    const words = (await card.innerText()).replaceAll(/\s+/g, ' ');
    for (const part of [/\?/, /(Frees|Touches|Costs|Undo): /]) expect(words).toMatch(part);
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
