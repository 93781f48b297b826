import type { Arguments } from '../arguments.ts';
import { pageOf } from '../paging.ts';
import { emitIn, readForm } from '../posting.ts';
import { channelOf, type Method, type MethodCall, type SlackContext } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';
import type { Channel, Message } from '../slack-shapes.ts';

/** `conversations.*`. */
export const conversationMethods: Readonly<Record<string, Method>> = {
  'conversations.list': (call) => {
    const types = call.args.list('types');
    const wanted = types.length === 0 ? ['public_channel'] : types;
    const channels = call.slack.workspace.channels().filter((each) => {
      if (each.is_im) return wanted.includes('im') && each.members.includes(call.app.botUserId);
      return wanted.includes(each.is_private ? 'private_channel' : 'public_channel');
    });
    return channelPage(call, channels);
  },

  'conversations.info': (call) => ({ channel: channelForm(channelOf(call), call.app.botUserId) }),

  'conversations.members': (call) => {
    const { page, next } = pageOf(channelOf(call).members, call.args, (each) => each);
    return { members: page, response_metadata: { next_cursor: next } };
  },

  'conversations.history': (call) => {
    const channel = readableChannel(call);
    const shown = call.slack.workspace
      .messages(channel.id)
      .filter((each) => isRoot(each) || each.subtype === 'thread_broadcast');
    const newestFirst = between(shown, call.args).reverse();
    const { page, next } = pageOf(newestFirst, call.args, (each) => each.ts);
    return {
      messages: page.map((each) => form(call, each)),
      has_more: next !== '',
      pin_count: 0,
      ...cursor(next),
    };
  },

  'conversations.replies': (call) => {
    const channel = readableChannel(call);
    const ts = call.args.required('ts', 'thread_not_found');
    const asked = call.slack.workspace.findMessage(channel.id, ts);
    if (asked === undefined) throw new SlackError('thread_not_found');
    const rootTs = asked.thread_ts ?? asked.ts;
    const thread = call.slack.workspace
      .messages(channel.id)
      .filter((each) => each.ts === rootTs || each.thread_ts === rootTs);
    const [root, ...replies] = thread;
    // The root always leads, whatever the bounds say.
    const wanted = [...(root === undefined ? [] : [root]), ...between(replies, call.args)];
    const { page, next } = pageOf(wanted, call.args, (each) => each.ts);
    return { messages: page.map((each) => form(call, each)), has_more: next !== '', ...cursor(next) };
  },

  'conversations.join': (call) => {
    const channel = channelOf(call);
    if (channel.is_im) throw new SlackError('method_not_supported_for_channel_type');
    return { channel: channelForm(join(call.slack, channel, call.app.botUserId), call.app.botUserId) };
  },

  'conversations.open': (call) => {
    if (call.args.has('channel')) return { channel: channelForm(channelOf(call), call.app.botUserId) };
    const users = call.args.list('users');
    const [user] = users;
    if (user === undefined) throw new SlackError('users_list_not_supplied');
    if (users.length > 1)
      throw new SlackError('not_enough_users', ['[ERROR] group messages are not in this workspace']);
    return {
      channel: channelForm(call.slack.workspace.directMessage(user, call.app.botUserId), call.app.botUserId),
    };
  },
};

/** Adds a member and says so to the app. */
export function join(slack: SlackContext, channel: Channel, userId: string): Channel {
  if (channel.members.includes(userId)) return channel;
  const joined = { ...channel, members: [...channel.members, userId] };
  slack.workspace.putChannel(joined);
  emitIn(slack, channel.id, { type: 'member_joined_channel', user: userId });
  return joined;
}

/** One page of channels, as `*.list` methods answer. */
export function channelPage(call: MethodCall, channels: readonly Channel[]): Record<string, unknown> {
  const { page, next } = pageOf(channels, call.args, (each) => each.id);
  return {
    channels: page.map((each) => channelForm(each, call.app.botUserId)),
    response_metadata: { next_cursor: next },
  };
}

/** A channel in Slack's own form, as this bot sees it. */
function channelForm(channel: Channel, botUserId: string): Record<string, unknown> {
  const common = {
    id: channel.id,
    created: channel.created,
    is_archived: false,
    is_im: channel.is_im,
    is_mpim: false,
  };
  if (channel.is_im) return { ...common, user: channel.user, is_open: true };
  return {
    ...common,
    name: channel.name,
    name_normalized: channel.name,
    is_channel: true,
    is_group: false,
    is_private: channel.is_private,
    is_general: channel.name === 'general',
    is_shared: channel.is_ext_shared === true,
    is_ext_shared: channel.is_ext_shared === true,
    is_member: channel.members.includes(botUserId),
    num_members: channel.members.length,
    topic: { value: channel.topic, creator: '', last_set: 0 },
    purpose: { value: channel.topic, creator: '', last_set: 0 },
  };
}

function readableChannel(call: MethodCall): Channel {
  const channel = channelOf(call);
  if (!channel.members.includes(call.app.botUserId)) throw new SlackError('not_in_channel');
  return channel;
}

function isRoot(message: Message): boolean {
  return message.thread_ts === undefined || message.thread_ts === message.ts;
}

/** `oldest` and `latest` are exclusive unless `inclusive`. */
function between(messages: readonly Message[], args: Arguments): Message[] {
  const oldest = args.number('oldest') ?? 0;
  const latest = args.number('latest') ?? Number.POSITIVE_INFINITY;
  const inclusive = args.flag('inclusive');
  return messages.filter(({ ts }) => {
    const at = Number(ts);
    return inclusive ? at >= oldest && at <= latest : at > oldest && at < latest;
  });
}

function form(call: MethodCall, message: Message): Record<string, unknown> {
  return readForm(message, call.args.flag('include_all_metadata'));
}

function cursor(next: string): Record<string, unknown> {
  return next === '' ? {} : { response_metadata: { next_cursor: next } };
}
