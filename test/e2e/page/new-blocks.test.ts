import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../../playground/slack/seed.ts';
import { keepScreenshot } from '../keep-screenshot.ts';
import { lineChart } from './every-block.ts';
import { channel } from './page-bot.ts';
import { type PageSession, startPageSession, withoutChromium } from './page-session.ts';

const plain = (text: string) => ({ type: 'plain_text' as const, text });
const chart = (title: string, of: object) => ({ type: 'data_visualization', title, chart: of });
const bars = (type: 'area' | 'bar') => ({
  type,
  series: [
    { name: 'before', data: [4, 9].map((value, i) => ({ label: `db ${i}`, value })) },
    { name: 'after', data: [0, -1].map((value, i) => ({ label: `db ${i}`, value })) },
  ],
  axis_config: { categories: ['db 0', 'db 1'] },
});
const task = (title: string, status: string) => ({ type: 'task_card', task_id: title, title, status });

describe.skipIf(withoutChromium())('the newer blocks on the page', () => {
  let session: PageSession;
  let page: Page;
  const chosen: { readonly actionId: string; readonly value: string | undefined }[] = [];

  beforeAll(async () => {
    session = await startPageSession((bot) => {
      bot.action(/^more$/, async ({ ack, action }) => {
        await ack();
        if (action.type === 'overflow')
          chosen.push({ actionId: action.action_id, value: action.selected_option.value });
      });
    });
    page = await session.open(USERS.onCall);
  });

  afterAll(() => session?.close());

  async function post(...blocks: object[]) {
    const { ts = '' } = await session.bot.client.chat.postMessage({
      channel,
      text: 'x',
      blocks: blocks as [],
    });
    const row = page.getByTestId(`message-${ts}`);
    await row.waitFor();
    return row;
  }

  it.each(['light', 'dark'] as const)('draws a line, areas, bars and a pie in %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    const lines = await post(lineChart('Sessions that wait'), chart('Areas', bars('area')));
    const pie = { type: 'pie', segments: [3, 1].map((value, i) => ({ label: `part ${i}`, value })) };
    const rest = await post(chart('Bars', bars('bar')), chart('Parts', pie));
    expect(await lines.locator('.chart polyline').count()).toBe(3);
    expect(await lines.locator('.chart polygon').count()).toBe(2);
    expect(await rest.locator('.chart rect').count()).toBe(4);
    expect(await rest.locator('.chart path').count()).toBe(2);
    await rest.getByText('part 0 75 %').waitFor();
    // Below zero is drawn below zero: the bars' line of nothing lies above the foot of the chart.
    const feet = await rest
      .locator('.chart rect')
      .evaluateAll((all) =>
        all.map((bar) => Number(bar.getAttribute('y')) + Number(bar.getAttribute('height'))),
      );
    expect(Math.max(...feet)).toBeGreaterThan(feet[0] ?? 0);
    await keepScreenshot(page, `charts-${colorScheme}`);
  });

  it('opens a folded container by a press, and folds it again', async () => {
    const row = await post({
      type: 'container',
      title: plain('Exactly this runs'),
      is_collapsible: true,
      default_collapsed: true,
      child_blocks: [{ type: 'section', text: plain('SELECT pg_terminate_backend(4242)') }],
    });
    const command = row.getByText('pg_terminate_backend');
    expect(await command.count()).toBe(0);
    await row.getByTestId('container-toggle').click();
    await command.waitFor();
    await row.getByTestId('container-toggle').click();
    await command.waitFor({ state: 'detached' });
  });

  it('draws a plan with how each task stands, folded when it is over', async () => {
    const tasks = [task('Locks', 'complete'), task('Disk', 'error'), task('Replicas', 'in_progress')];
    const running = await post({ type: 'plan', title: 'Who blocks whom', tasks });
    expect(await running.getByRole('img').evaluateAll((all) => all.map((one) => one.ariaLabel))).toEqual([
      'Done',
      'Failed',
      'Running',
    ]);
    const over = await post({ type: 'plan', title: 'Investigated in 17 s', tasks: tasks.slice(0, 2) });
    expect(await over.getByText('Locks').count()).toBe(0);
    await over.getByTestId('plan-toggle').click();
    await over.getByText('Locks').waitFor();
  });

  it('chooses from an overflow menu, on the page and through the control API', async () => {
    const options = ['assign', 'close'].map((name) => ({ text: plain(`Do ${name}`), value: name }));
    const row = await post({
      type: 'actions',
      elements: [{ type: 'overflow', action_id: 'more', options }],
    });
    await row.getByTestId('action-more').click();
    await page.getByTestId('option-close').click();
    await expect.poll(() => chosen).toEqual([{ actionId: 'more', value: 'close' }]);
    const message = await session.client.waitForMessage((each) => JSON.stringify(each).includes('Do assign'));
    const input = { kind: 'option', value: 'assign' } as const;
    const answer = await session.client.asUser(USERS.onCall).press(message, { actionId: 'more', input });
    expect(answer).toEqual({ ok: true });
    await expect.poll(() => chosen.at(-1)).toEqual({ actionId: 'more', value: 'assign' });
    const absent = { kind: 'option', value: 'merge' } as const;
    const refused = await session.client
      .asUser(USERS.onCall)
      .press(message, { actionId: 'more', input: absent });
    expect(refused).toMatchObject({ ok: false, error: 'invalid_input' });
  });

  it('without an error or a violation of the page’s policy', () => {
    expect(session.faults).toEqual([]);
  });
});
