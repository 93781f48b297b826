import { LIMITS } from '../limits.ts';
import { type Author, change, post, postEphemeral, readForm, remove } from '../posting.ts';
import { type Method, type MethodCall, messageOf } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';
import type { Channel, Message } from '../slack-shapes.ts';
import { contentOf } from './message-content.ts';

/** `chat.*`, but for streaming. */
export const chatMethods: Readonly<Record<string, Method>> = {
  'chat.postMessage': (call) => {
    const channel = writableChannel(call);
    const tooLong = (call.args.text('text') ?? '').length > LIMITS.message.textTruncated;
    const message = post(call.slack, {
      ...contentOf(call.args),
      author: authorOf(call),
      channel: channel.id,
      broadcast: call.args.flag('reply_broadcast'),
      ...threadOf(call),
      ...(call.args.has('client_msg_id') ? { clientMsgId: call.args.required('client_msg_id') } : {}),
    });
    const warning = tooLong ? { response_metadata: { warnings: ['message_truncated'] } } : {};
    return { channel: channel.id, ts: message.ts, message: readForm(message, true), ...warning };
  },

  'chat.postEphemeral': (call) => {
    const channel = writableChannel(call);
    const user = call.slack.workspace.user(call.args.required('user', 'user_not_found'));
    if (!channel.members.includes(user.id)) throw new SlackError('user_not_in_channel');
    const content = contentOf(call.args);
    const draft = { ...content, author: authorOf(call), channel: channel.id, ...threadOf(call) };
    return { message_ts: postEphemeral(call.slack, user.id, draft).ts };
  },

  'chat.update': (call) => {
    const message = ownMessage(call, 'cant_update_message');
    if (message.streaming_state !== undefined) throw new SlackError('streaming_state_conflict');
    if ((call.args.text('text') ?? '').length > LIMITS.message.updateText)
      throw new SlackError('msg_too_long');
    const content = contentOf(call.args);
    // What is not sent is removed, but for metadata, which stays unless replaced.
    const replaced = (['blocks', 'attachments'] as const).filter((name) => content[name] === undefined);
    const after = change(call.slack, message, content, { editor: call.app.botUserId, drop: replaced });
    return { channel: after.channel, ts: after.ts, text: after.text, message: readForm(after, true) };
  },

  'chat.delete': (call) => {
    const message = ownMessage(call, 'cant_delete_message');
    remove(call.slack, message);
    return { channel: message.channel, ts: message.ts };
  },

  'chat.getPermalink': (call) => {
    const message = messageOf(call, 'message_ts');
    return { channel: message.channel, permalink: permalinkOf(call.slack.baseUrl(), message) };
  },
};

/** Where a message is on the page: `/archives/<channel>/p<ts without dot>[?thread_ts=…&cid=…]`, as in Slack. */
export function permalinkOf(baseUrl: string, message: Message): string {
  const link = `${baseUrl}/archives/${message.channel}/p${message.ts.replace('.', '')}`;
  if (message.thread_ts === undefined || message.thread_ts === message.ts) return link;
  return `${link}?thread_ts=${message.thread_ts}&cid=${message.channel}`;
}

/** The channel to post to; a user's id means the direct message with them. */
export function writableChannel(call: MethodCall): Channel {
  const id = call.args.required('channel', 'channel_not_found');
  const { workspace } = call.slack;
  if (id.startsWith('U')) return workspace.directMessage(id, call.app.botUserId);
  const channel = workspace
    .channels()
    .find((each) => each.id === id || (!each.is_im && `#${each.name}` === id));
  if (channel === undefined) throw new SlackError('channel_not_found');
  if (!channel.members.includes(call.app.botUserId)) {
    throw new SlackError(channel.is_private ? 'channel_not_found' : 'not_in_channel');
  }
  return channel;
}

function authorOf(call: MethodCall): Author {
  return {
    kind: 'app',
    app: call.app,
    ...(call.args.has('username') ? { username: call.args.required('username') } : {}),
    ...(call.args.has('icon_emoji') ? { iconEmoji: call.args.required('icon_emoji') } : {}),
  };
}

function threadOf(call: MethodCall): { readonly thread_ts?: string } {
  return call.args.has('thread_ts') ? { thread_ts: call.args.required('thread_ts') } : {};
}

function ownMessage(call: MethodCall, refusal: string): Message {
  const message = messageOf(call);
  if (message.bot_id !== call.app.botId) throw new SlackError(refusal);
  if (message.subtype === 'tombstone') throw new SlackError('message_not_found');
  return message;
}
