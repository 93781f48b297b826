import type { App, BlockAction } from '@slack/bolt';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import { createHomeSources } from '../../../src/app/home-facts.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import { layerNames } from '../../../src/safety/layers.ts';
import { HOME, type HomeParts, homeView } from '../../../src/slack/views/home.ts';
import type { HomeFacts } from '../../../src/slack/views/home-facts.ts';
import {
  gapsView,
  incidentsView,
  layersView,
  rolesView,
  toolsView,
} from '../../../src/slack/views/home-windows.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { kinds } from '../../../src/targets/kinds.ts';
import { homeDeps } from '../../support/home-deps.ts';
import { anAction, anIncident } from '../../support/incident-record.ts';
import { keepScreenshot } from '../keep-screenshot.ts';
import { type PageSession, startPageSession, withoutChromium } from './page-session.ts';

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const DESKTOP = { viewport: { width: 1280, height: 900 } };
const AT = '2026-01-01T10:12:00.000Z';

const quietFacts: HomeFacts = {
  isAdmin: false,
  isStopped: false,
  state: [
    'Changes are not stopped: approved fixes run.',
    'Claude (claude-opus-4-1) investigates; 30 runbooks take over when it fails.',
  ],
  cost: {
    says: '$0.42 of $100.00 today, breaker closed.',
    days: [null, null, 0.4, 0, 1.2, 3.1, 0.2, null, 0.9, 1.4, 0.3, 0.1, 2.2, 0.42],
  },
  onCall: null,
  targets: ['shop-db', 'shop-host', 'shop-docker'].map((name) => ({ name, state: 'answers', at: AT })),
  gaps: [],
  approvals: [],
  holders: new Map(),
  layers: layerNames.map((name, at) => ({ number: at + 1, name, state: 'on', says: `how ${name} stands` })),
};
const quiet: HomeParts = {
  status: ['Mode ACTIVE.', ...quietFacts.state],
  open: [],
  facts: quietFacts,
  onCall: 'Olivia Park, Noah Weber',
  promotions: null,
  holderOf: () => null,
  urlOf: ({ id }) => `https://playground.slack.com/archives/C0ALERTS/${id}`,
  cardOf: () => 'https://playground.slack.com/archives/C0ALERTS/p1',
  at: AT,
};
const incidents = (['critical', 'error', 'warning'] as const).map((severity, n) =>
  anIncident({
    id: asIncidentId(`INC-${n + 7}`),
    severity,
    state: n === 0 ? 'awaiting_approval' : 'diagnosing',
  }),
);
const action = anAction({ expiresAt: '2026-01-01T10:40:00.000Z', proposedAt: AT });
const gap = {
  target: 'shop-db',
  reason: 'permission denied for view pg_stat_statements',
  incidents: 9,
  of: 14,
  who: 'Whoever administers the database.',
  what: 'Grant the account that Sentry reads with:',
  exact: 'GRANT pg_read_all_stats TO sentry_ro;',
  note: null,
};
const busy: HomeParts = {
  ...quiet,
  open: incidents,
  facts: {
    ...quietFacts,
    isAdmin: true,
    approvals: [{ action, steps: [action] }],
    gaps: [gap],
    targets: quietFacts.targets.map((each, n) => (n === 1 ? { ...each, state: 'away' } : each)),
  },
  promotions: { waiting: 2, channel: 'C0ADMIN' },
  holderOf: (id) => (id === 'INC-7' ? 'Olivia Park' : null),
};
const sources = createHomeSources(homeDeps({ tools: allTools, kinds }));

describe.skipIf(withoutChromium())('App Home in the browser', () => {
  let session: PageSession;

  beforeAll(async () => {
    session = await startPageSession(windows);
  });
  afterAll(() => session?.close());

  function windows(bot: App): void {
    const made = async (id: string) => {
      if (id === HOME.roles) return rolesView(['shop-db: you may approve every change.'], sources.tools());
      if (id === HOME.tools) return toolsView(sources.tools());
      if (id === HOME.gaps) return gapsView([gap]);
      if (id === HOME.incidents) return incidentsView('open', { incidents, next: 'INC-1' }, quiet.urlOf);
      return layersView(quietFacts.layers, true);
    };
    bot.action<BlockAction>(/.*/, async ({ ack, body, client }) => {
      await ack();
      await client.views.open({
        trigger_id: body.trigger_id,
        view: await made(body.actions[0]?.action_id ?? ''),
      });
    });
  }

  async function openHome(parts: HomeParts, options: object): Promise<Page> {
    await session.bot.client.views.publish({ user_id: USERS.admin, view: homeView(parts) });
    const page = await session.open(USERS.admin, '/#/app/home', options);
    await page.getByTestId('home').getByText('As of').waitFor();
    return page;
  }

  it.each([
    ['quiet', quiet, 2],
    ['busy', busy, 2.5],
  ] as const)('is short on a phone where all is %s, in light and dark', async (kind, parts, screens) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openHome(parts, { ...PHONE, colorScheme });
      const home = page.getByTestId('home');
      await keepScreenshot(page, `home-phone-${kind}-${colorScheme}`);
      const height = await home.locator('.home-body').evaluate((el) => el.scrollHeight);
      expect(height).toBeLessThanOrEqual(PHONE.viewport.height * screens);
      // Nothing is wider than the phone.
      expect(await home.evaluate((el) => el.scrollWidth - el.clientWidth)).toBeLessThanOrEqual(0);
      await home.evaluate((el) => el.scrollTo(0, el.scrollHeight));
      await keepScreenshot(page, `home-phone-${kind}-${colorScheme}-end`);
      await page.context().close();
    }
  });

  it('shows its windows, on a phone and on a desktop', async () => {
    for (const [where, options] of [
      ['phone', PHONE],
      ['desktop', DESKTOP],
    ] as const) {
      const page = await openHome(busy, options);
      if (where === 'desktop') await keepScreenshot(page, 'home-desktop');
      for (const [name, action_, words] of [
        ['incidents', HOME.incidents, 'Last 24 hours'],
        ['layers', HOME.layers, 'holds, and could hold better'],
        ['roles', HOME.roles, 'My roles'],
        ['tools', HOME.tools, 'postgres_activity'],
        ['gaps', HOME.gaps, 'Sentry grants itself nothing'],
      ] as const) {
        await page.getByTestId('home').getByTestId(`action-${action_}`).click();
        await page.getByText(words).first().waitFor();
        await keepScreenshot(page, `home-${where}-${name}`);
        await page.keyboard.press('Escape');
        await page.getByText(words).first().waitFor({ state: 'detached' });
      }
      await page.context().close();
    }
    expect(session.faults).toEqual([]);
  });
});
