import { defined } from '../../src/core/defined.ts';
import { type InstalledApp, SENTRY_APP, TEAM } from './seed.ts';
import type { SlackContext } from './slack-context.ts';
import { SlackError } from './slack-error.ts';
import type { Attachment, Block, Channel, Message, MessageMetadata, SlackFile } from './slack-shapes.ts';

/** Who a message is from: a person, an app with its bot user, or a classic webhook (no user at all). */
export type Author =
  | { readonly kind: 'user'; readonly userId: string }
  | {
      readonly kind: 'app' | 'webhook';
      readonly app: InstalledApp;
      readonly username?: string;
      readonly iconEmoji?: string;
    };

/** What a message says. */
export interface Content {
  readonly text: string;
  readonly blocks?: readonly Block[];
  readonly attachments?: readonly Attachment[];
  readonly metadata?: MessageMetadata;
}

export interface Draft extends Content {
  readonly author: Author;
  readonly channel: string;
  readonly files?: readonly SlackFile[];
  readonly thread_ts?: string;
  readonly broadcast?: boolean;
  readonly clientMsgId?: string;
  readonly streaming?: boolean;
}

/** Stores a message, keeps its thread's root right, and tells the app. Throws `thread_not_found` and the like. */
export function post(slack: SlackContext, draft: Draft): Message {
  const channel = slack.workspace.channel(draft.channel);
  const root = draft.thread_ts === undefined ? undefined : threadRoot(slack, draft.channel, draft.thread_ts);
  const message = compose(slack, draft);
  slack.workspace.putMessage(message);
  if (root !== undefined) {
    countReply(slack, root, message);
    if (draft.author.kind === 'app') slack.workspace.clearStatus(root.channel, root.ts);
  }
  announce(slack, channel, message, root);
  return message;
}

/** A message nobody else sees and Slack does not store. */
export function postEphemeral(slack: SlackContext, userId: string, draft: Draft): Message {
  slack.workspace.channel(draft.channel);
  const message = compose(slack, { ...draft, broadcast: false });
  slack.workspace.putEphemeral({ userId, message });
  return message;
}

/** Replaces what `changes` names and tells the app with `message_changed`. */
export function change(
  slack: SlackContext,
  before: Message,
  changes: Partial<Message>,
  options: { readonly editor?: string; readonly drop?: ReadonlyArray<keyof Message> } = {},
): Message {
  const dropped = new Set<string>(options.drop ?? []);
  const kept = Object.fromEntries(
    Object.entries({ ...before, ...changes }).filter(([name]) => !dropped.has(name)),
  );
  const { editor } = options;
  const edited = editor === undefined ? {} : { edited: { user: editor, ts: slack.workspace.nextTs() } };
  const after = { ...kept, ...edited } as Message;
  slack.workspace.putMessage(after);
  emitIn(slack, before.channel, {
    type: 'message',
    subtype: 'message_changed',
    hidden: true,
    message: eventForm(after),
    previous_message: eventForm(before),
  });
  return after;
}

/** Removes a message; a root with replies leaves a tombstone, as in Slack. */
export function remove(slack: SlackContext, message: Message): void {
  if ((message.reply_count ?? 0) > 0) {
    const {
      blocks: _blocks,
      attachments: _attachments,
      metadata: _metadata,
      files: _files,
      ...rest
    } = message;
    slack.workspace.putMessage({ ...rest, subtype: 'tombstone', text: 'This message was deleted.' });
  } else {
    slack.workspace.deleteMessage(message.channel, message.ts);
    if (message.thread_ts !== undefined && message.thread_ts !== message.ts) uncountReply(slack, message);
  }
  emitIn(slack, message.channel, {
    type: 'message',
    subtype: 'message_deleted',
    hidden: true,
    deleted_ts: message.ts,
    previous_message: eventForm(message),
  });
}

/** Sends an event that happened in a channel, if the bot is there to hear it. */
export function emitIn(
  slack: SlackContext,
  channelId: string,
  event: { readonly type: string } & Readonly<Record<string, unknown>>,
): void {
  const channel = slack.workspace.channel(channelId);
  if (!channel.members.includes(SENTRY_APP.botUserId)) return;
  const ts = slack.workspace.nextTs();
  slack.events.emit({ ts, event_ts: ts, channel: channelId, channel_type: channelType(channel), ...event });
}

/** A message as other apps read it: Slack's own form, without metadata unless asked for. */
export function readForm(message: Message, withMetadata: boolean): Record<string, unknown> {
  const { channel: _channel, metadata, streaming_state: _state, ...rest } = message;
  return { ...rest, team: TEAM.id, ...(withMetadata && metadata !== undefined ? { metadata } : {}) };
}

function eventForm(message: Message): Record<string, unknown> {
  return readForm(message, false);
}

function compose(slack: SlackContext, draft: Draft): Message {
  return {
    type: 'message',
    channel: draft.channel,
    ts: slack.workspace.nextTs(),
    text: draft.text,
    ...authorship(draft.author),
    ...defined({
      blocks: draft.blocks?.length === 0 ? undefined : draft.blocks,
      attachments: draft.attachments?.length === 0 ? undefined : draft.attachments,
      metadata: draft.metadata,
      files: draft.files,
      client_msg_id: draft.clientMsgId,
      streaming_state: draft.streaming === true ? ('in_progress' as const) : undefined,
      thread_ts: draft.thread_ts,
    }),
    ...(draft.thread_ts !== undefined && draft.broadcast === true
      ? { subtype: 'thread_broadcast', root_ts: draft.thread_ts }
      : {}),
  };
}

function authorship(author: Author): Partial<Message> {
  if (author.kind === 'user') return { user: author.userId };
  const { username, iconEmoji } = author;
  const shown = defined({ username, icons: iconEmoji === undefined ? undefined : { emoji: iconEmoji } });
  if (author.kind === 'webhook') return { subtype: 'bot_message', bot_id: author.app.botId, ...shown };
  const { app } = author;
  return {
    user: app.botUserId,
    bot_id: app.botId,
    app_id: app.id,
    bot_profile: { id: app.botId, app_id: app.id, name: app.name, team_id: TEAM.id },
    ...shown,
  };
}

function threadRoot(slack: SlackContext, channel: string, threadTs: string): Message {
  const root = slack.workspace.findMessage(channel, threadTs);
  if (root === undefined) throw new SlackError('thread_not_found');
  if (root.thread_ts !== undefined && root.thread_ts !== root.ts)
    throw new SlackError('cannot_reply_to_message');
  return root;
}

function countReply(slack: SlackContext, root: Message, reply: Message): void {
  const author = reply.user ?? reply.bot_id ?? '';
  const users = [...new Set([...(root.reply_users ?? []), author])];
  slack.workspace.putMessage({
    ...slack.workspace.message(root.channel, root.ts),
    thread_ts: root.ts,
    reply_count: (root.reply_count ?? 0) + 1,
    reply_users: users,
    reply_users_count: users.length,
    latest_reply: reply.ts,
  });
}

function uncountReply(slack: SlackContext, reply: Message): void {
  const root = slack.workspace.findMessage(reply.channel, reply.thread_ts ?? '');
  if (root === undefined) return;
  slack.workspace.putMessage({ ...root, reply_count: Math.max(0, (root.reply_count ?? 1) - 1) });
}

function announce(slack: SlackContext, channel: Channel, message: Message, root: Message | undefined): void {
  const parent = root?.user === undefined ? {} : { parent_user_id: root.user };
  const event = { ...eventForm(message), ...parent, ts: message.ts, event_ts: message.ts };
  emitIn(slack, channel.id, { ...event, type: 'message' });
  const mentioned = message.text.includes(`<@${SENTRY_APP.botUserId}`);
  const own = message.bot_id === SENTRY_APP.botId;
  if (!mentioned || own || channel.is_im || message.user === undefined) return;
  const { subtype: _subtype, ...mention } = event as typeof event & { subtype?: string };
  emitIn(slack, channel.id, { ...mention, type: 'app_mention' });
}

function channelType(channel: Channel): string {
  if (channel.is_im) return 'im';
  return channel.is_private ? 'group' : 'channel';
}
