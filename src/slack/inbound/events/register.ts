import type { App } from '@slack/bolt';
import { unescapeMrkdwn } from '../../../core/unescape-mrkdwn.ts';
import type { SlackContext } from '../../context.ts';
import { homeOpened } from '../../keep-homes.ts';
import type { SlackMessage } from '../../ports.ts';
import { publishHome } from '../../views/publish-home.ts';
import { answerDirect } from '../direct/direct-conversation.ts';
import { suggestPrompts } from '../direct/suggest-prompts.ts';
import { welcome } from '../onboarding/welcome.ts';
import { alertMessageOf } from './alert-message.ts';
import { answerMention, answerReply, type Said } from './conversation.ts';

interface MessageEvent {
  readonly channel: string;
  readonly ts: string;
  readonly user?: string;
  readonly bot_id?: string;
  readonly team?: string;
  readonly text?: string;
  readonly thread_ts?: string;
  readonly subtype?: string;
  readonly channel_type?: string;
}

export interface EventHooks {
  readonly isAlertChannel: (channel: string) => Promise<boolean>;
  readonly takeAlert: (message: SlackMessage) => Promise<void>;
  /** Elsewhere another app's message is no alert, and may tell what was deployed. */
  readonly takeChange: (message: SlackMessage) => Promise<void>;
}

/** Messages, mentions and the Home tab. */
export function registerEvents(app: App, context: SlackContext, hooks: EventHooks): void {
  app.event('message', async ({ event }) => {
    const identity = context.identity();
    const alert = alertMessageOf(event as unknown as Readonly<Record<string, unknown>>, identity);
    if (alert) {
      if (await hooks.isAlertChannel(alert.channel)) await hooks.takeAlert(alert);
      else await hooks.takeChange(alert);
      return;
    }
    const message = event as unknown as MessageEvent;
    const person = message.user && !message.bot_id && message.subtype === undefined;
    // A mention comes again as `app_mention`, and is answered there.
    const mentions = message.text?.includes(`<@${identity.userId}>`);
    if (person && message.channel_type === 'im') {
      await answerDirect(context, saidOf(message, identity.userId));
      await welcome(context, message.user ?? '');
    } else if (person && message.thread_ts && !mentions)
      await answerReply(context, saidOf(message, identity.userId));
  });

  app.event('app_mention', async ({ event }) => {
    const message = event as unknown as MessageEvent;
    if (!message.user || message.bot_id) return;
    await answerMention(context, saidOf(message, context.identity().userId));
  });

  // Not in the types of Slack's SDK: `{ channel, user, thread_ts, … }`.
  app.event('agent_session_stopped', async ({ event }) => {
    const { channel, thread_ts: threadTs } = event as unknown as MessageEvent;
    if (!threadTs) return;
    await context.deps.questions.stop(channel, threadTs);
    await context.sessions.idle({ channel, threadTs });
  });

  app.event('app_home_opened', async ({ event }) => {
    if (event.tab === 'messages') await suggestPrompts(context, event.user, event.channel);
    if (event.tab === 'home') {
      await homeOpened(context.deps.sql, event.user);
      await publishHome(context, event.user);
    }
    await welcome(context, event.user);
  });
}

function saidOf(message: MessageEvent, botUserId: string): Said {
  return {
    userId: message.user ?? '',
    teamId: message.team ?? null,
    channel: message.channel,
    ts: message.ts,
    threadTs: message.thread_ts ?? null,
    text: unescapeMrkdwn((message.text ?? '').replaceAll(`<@${botUserId}>`, ' ')).trim(),
  };
}
