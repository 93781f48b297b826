import { runCommand } from './commands.ts';
import type { FaultsClient } from './faults-client.ts';
import {
  blockAction,
  closeView,
  globalShortcut,
  loadOptions,
  messageShortcut,
  submitView,
} from './interactivity.ts';
import { stopStreams } from './methods/chat-stream.ts';
import { join } from './methods/conversations.ts';
import { react, usersOf } from './methods/reactions.ts';
import type { PageActionName, PageActions, PageAnswer } from './page-api.ts';
import { change, emitIn, post, remove } from './posting.ts';
import type { Recording } from './recording.ts';
import { SENTRY_APP } from './seed.ts';
import type { SlackContext } from './slack-context.ts';
import { SlackError } from './slack-error.ts';
import type { Message } from './slack-shapes.ts';
import { escapeTyped, richTextOf } from './typed-text.ts';

type Handlers = {
  readonly [Name in PageActionName]: (body: PageActions[Name]) => PageAnswer | Promise<PageAnswer>;
};

/** Everything a person can do, on the page or through the control API. */
export function personActions(slack: SlackContext, faults: FaultsClient, recording: Recording): Handlers {
  const { workspace } = slack;
  return {
    'message.post': (body) => {
      const channel = workspace.channelFor(body.channel, body.userId);
      const text = escapeTyped(workspace, body.text);
      if (text.trim() === '') throw new SlackError('no_text');
      const message = post(slack, {
        author: { kind: 'user', userId: body.userId },
        channel: channel.id,
        text,
        blocks: [richTextOf(text)],
        clientMsgId: crypto.randomUUID(),
        ...(body.thread_ts === undefined ? {} : { thread_ts: body.thread_ts }),
        broadcast: body.reply_broadcast ?? false,
      });
      workspace.markRead(body.userId, channel.id, message.ts);
      return { ok: true, ts: message.ts, channel: channel.id };
    },
    'message.edit': (body) => {
      const message = ownMessage(slack, body);
      const text = escapeTyped(workspace, body.text);
      change(slack, message, { text, blocks: [richTextOf(text)] }, { editor: body.userId });
      return { ok: true, ts: message.ts };
    },
    'message.delete': (body) => {
      remove(slack, ownMessage(slack, body));
      return { ok: true };
    },
    'thread.recording': ({ userId, channel, thread_ts }) => ({
      ok: true,
      frames: recording.of(workspace.channelFor(channel, userId).id, thread_ts),
    }),
    'command.run': (body) => runCommand(slack, body),
    'block.action': (body) => blockAction(slack, body),
    'view.submit': (body) => submitView(slack, body),
    'view.close': (body) => closeView(slack, body),
    'options.load': (body) => loadOptions(slack, body),
    'shortcut.message': (body) => messageShortcut(slack, body),
    'shortcut.global': (body) => globalShortcut(slack, body),
    'home.open': (body) => openHome(slack, body),
    'reaction.toggle': (body) => {
      const channel = workspace.channelFor(body.channel, body.userId);
      const message = workspace.message(channel.id, body.ts);
      react(slack, message, body.name, body.userId, !usersOf(message, body.name).includes(body.userId));
      return { ok: true };
    },
    'read.mark': (body) => {
      workspace.channel(body.channel);
      workspace.markRead(workspace.user(body.userId).id, body.channel, body.ts);
      return { ok: true };
    },
    'ephemeral.dismiss': (body) => {
      workspace.deleteEphemeral(body.userId, body.channel, body.ts);
      return { ok: true };
    },
    'channel.join': (body) => {
      const channel = workspace.channel(body.channel);
      if (channel.is_private) throw new SlackError('channel_not_found');
      join(slack, channel, workspace.user(body.userId).id);
      return { ok: true, channel: channel.id };
    },
    'dm.open': (body) => ({
      ok: true,
      channel: workspace.directMessage(body.userId, SENTRY_APP.botUserId).id,
    }),
    'session.stop': (body) => stopSession(slack, body),
    'fault.cause': (body) => faults.act(body.id, 'cause'),
    'fault.undo': (body) => faults.act(body.id, 'undo'),
  };
}

function openHome(slack: SlackContext, body: PageActions['home.open']): PageAnswer {
  const channel = slack.workspace.directMessage(body.userId, SENTRY_APP.botUserId);
  const tab = body.tab ?? 'home';
  const view = slack.workspace.home(body.userId);
  emitIn(slack, channel.id, {
    type: 'app_home_opened',
    user: body.userId,
    tab,
    ...(tab === 'home' && view !== undefined ? { view } : {}),
  });
  return { ok: true, channel: channel.id };
}

function stopSession(slack: SlackContext, body: PageActions['session.stop']): PageAnswer {
  const channel = slack.workspace.channelFor(body.channel, body.userId);
  const streams = stopStreams(slack, channel.id, body.thread_ts);
  emitIn(slack, channel.id, {
    type: 'agent_session_stopped',
    user: body.userId,
    thread_ts: body.thread_ts,
    streaming_message_ts: streams,
  });
  return { ok: true };
}

function ownMessage(
  slack: SlackContext,
  body: { readonly userId: string; readonly channel: string; readonly ts: string },
): Message {
  const message = slack.workspace.message(body.channel, body.ts);
  if (message.user !== body.userId || message.bot_id !== undefined)
    throw new SlackError('cant_update_message');
  return message;
}
