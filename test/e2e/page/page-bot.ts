import { createServer, type Server } from 'node:http';
import type { App } from '@slack/bolt';
import type { Page } from 'playwright-core';
import { CHANNELS } from '../../../playground/slack/seed.ts';
import type { PageSession } from './page-session.ts';

export const channel = CHANNELS.alerts;
/** Presses of *Approve*, and submitted modals, in order. */
export const seen: { actionId: string; value: string | undefined; user: string }[] = [];
export const submitted: Record<string, unknown>[] = [];

const modal = {
  type: 'modal' as const,
  callback_id: 'deny',
  private_metadata: 'approval-7',
  title: { type: 'plain_text' as const, text: 'Deny this action' },
  submit: { type: 'plain_text' as const, text: 'Deny' },
  blocks: [
    {
      type: 'input' as const,
      block_id: 'reason',
      label: { type: 'plain_text' as const, text: 'Why not?' },
      element: { type: 'plain_text_input' as const, action_id: 'why', multiline: true },
    },
    {
      type: 'actions' as const,
      elements: [
        {
          type: 'button' as const,
          action_id: 'details',
          text: { type: 'plain_text' as const, text: 'Show output' },
        },
      ],
    },
    {
      type: 'input' as const,
      block_id: 'next',
      optional: true,
      label: { type: 'plain_text' as const, text: 'What next?' },
      element: {
        type: 'static_select' as const,
        action_id: 'what',
        options: [
          { text: { type: 'plain_text' as const, text: 'Look again' }, value: 'again' },
          { text: { type: 'plain_text' as const, text: 'Leave it' }, value: 'leave' },
        ],
      },
    },
  ],
};

/** The listeners of the test's app. */
export function listen(bot: App): void {
  bot.action('approve', async ({ ack, body, action, respond }) => {
    await ack();
    const value = 'value' in action ? action.value : undefined;
    seen.push({ actionId: 'approve', value, user: body.user.id });
    await respond({
      response_type: 'ephemeral',
      replace_original: false,
      text: `noted for <@${body.user.id}>`,
    });
  });
  bot.action('open_modal', async ({ ack, body, client }) => {
    await ack();
    if ('trigger_id' in body) await client.views.open({ trigger_id: body.trigger_id, view: modal });
  });
  bot.action('details', async ({ ack, body, client }) => {
    await ack();
    const text = {
      type: 'mrkdwn' as const,
      text: `\`\`\`${'pid 4187 | idle in transaction\n'.repeat(80)}\`\`\``,
    };
    const title = { type: 'plain_text' as const, text: 'Tool output' };
    if ('trigger_id' in body) {
      const view = { type: 'modal' as const, title, blocks: [{ type: 'section' as const, text }] };
      await client.views.push({ trigger_id: body.trigger_id, view });
    }
  });
  bot.view('deny', async ({ ack, view }) => {
    const why = view.state.values['reason']?.['why']?.value ?? '';
    if (why.length < 10) {
      await ack({ response_action: 'errors', errors: { reason: 'Please say a little more.' } });
      return;
    }
    submitted.push({
      why,
      next: view.state.values['next']?.['what']?.selected_option?.value,
      about: view.private_metadata,
    });
    await ack();
  });
  bot.command('/sentry', async ({ ack, command, respond }) => {
    await ack();
    await respond({ text: `you asked: ${command.text}` });
  });
  bot.event('app_home_opened', async ({ event, client }) => {
    if (event.tab !== 'home') return;
    const blocks = [{ type: 'header' as const, text: { type: 'plain_text' as const, text: 'All quiet' } }];
    await client.views.publish({ user_id: event.user, view: { type: 'home', blocks } });
  });
}

/** What the faults server was asked to do. */
export const calls: string[] = [];

/** A faults server as `page-api.ts` describes it. */
export async function startFaults(): Promise<Server> {
  let state = 'idle';
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (request.method === 'POST') {
      calls.push(path);
      state = path.endsWith('/cause') ? 'active' : 'idle';
      response.end(JSON.stringify({ ok: true }));
      return;
    }
    const fault = {
      id: 'blocked-sessions',
      title: 'Blocked sessions',
      description: 'A lock is held.',
      system: 'shop-db',
      impossible: null,
      state,
    };
    response.end(JSON.stringify({ faults: [fault] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

export async function switchTo(page: Page, userId: string): Promise<void> {
  await page.getByTestId('user-switch').click();
  await page.getByTestId(`option-${userId}`).click();
  await page.locator(`[data-testid=user-switch][data-user=${userId}]`).waitFor();
}

/** A message with an *Approve* button. */
export function postButton(session: PageSession, { confirm }: { confirm: boolean }) {
  const text = (words: string) => ({ type: 'plain_text' as const, text: words });
  return session.bot.client.chat.postMessage({
    channel,
    text: 'approve?',
    blocks: [
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            style: 'primary',
            action_id: 'approve',
            value: 'plan-7',
            text: text('Approve'),
            ...(confirm
              ? {
                  confirm: {
                    title: text('Sure?'),
                    text: text('It runs at once.'),
                    confirm: text('Yes'),
                    deny: text('No'),
                  },
                }
              : {}),
          },
        ],
      },
    ],
  });
}

/** A message with a button that opens the modal; its ts. */
export async function postOpener(session: PageSession): Promise<string> {
  const text = { type: 'plain_text' as const, text: 'Deny' };
  const blocks = [
    { type: 'actions' as const, elements: [{ type: 'button' as const, action_id: 'open_modal', text }] },
  ];
  const { ts = '' } = await session.bot.client.chat.postMessage({ channel, text: 'a modal', blocks });
  return ts;
}
