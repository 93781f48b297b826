/** What the views read from the state: lists, counts and names. Pure. */

/** @typedef {import('./store.js').Data} Data @typedef {import('./types.js').Message} Message @typedef {import('./types.js').Channel} Channel @typedef {import('./types.js').User} User */

/** Subtypes that are lines about the channel, not somebody's words. */
const SYSTEM = new Set([
  'channel_join',
  'channel_leave',
  'channel_topic',
  'channel_purpose',
  'channel_name',
  'group_join',
  'group_leave',
  'pinned_item',
]);

/** @param {Message} message */
export function isSystem(message) {
  return message.subtype !== undefined && SYSTEM.has(message.subtype);
}

/** @param {Message} message */
export function isReply(message) {
  return message.thread_ts !== undefined && message.thread_ts !== message.ts;
}

/**
 * The app a person can talk to: the one that published a Home view, else the first bot with an app.
 * @param {Data} data
 * @returns {User | undefined}
 */
export function appUser(data) {
  const bots = [...data.users.values()].filter((user) => user.is_bot);
  const home = Object.values(data.snapshot?.homes ?? {})[0];
  const owner = home && bots.find((user) => user.profile.bot_id === home.bot_id);
  return owner ?? bots.find((user) => user.profile.api_app_id !== undefined) ?? bots[0];
}

/**
 * Channels a person sees in the list: public ones and their own private ones, without direct messages.
 * @param {Data} data
 * @param {string} viewer
 */
export function visibleChannels(data, viewer) {
  return [...data.channels.values()].filter(
    (channel) => !channel.is_im && (!channel.is_private || channel.members.includes(viewer)),
  );
}

/**
 * The direct message between a person and the app, if it exists.
 * @param {Data} data
 * @param {string} viewer
 */
export function directMessage(data, viewer) {
  return [...data.channels.values()].find((channel) => channel.is_im && channel.user === viewer);
}

/**
 * What stands in a channel: roots, broadcast replies, and what only this person sees.
 * @param {Data} data
 * @param {string} channel
 * @param {string} viewer
 * @returns {{ message: Message, ephemeral: boolean }[]}
 */
export function channelMessages(data, channel, viewer) {
  const shared = (data.messages.get(channel) ?? []).filter(
    (message) => !isReply(message) || message.subtype === 'thread_broadcast',
  );
  return merged(
    shared,
    ownEphemerals(data, channel, viewer, (message) => !isReply(message)),
  );
}

/**
 * A thread's root (if it is still there) and its replies.
 * @param {Data} data
 * @param {string} channel
 * @param {string} threadTs
 * @param {string} viewer
 */
export function threadMessages(data, channel, threadTs, viewer) {
  const all = data.messages.get(channel) ?? [];
  const replies = all.filter((message) => message.thread_ts === threadTs && message.ts !== threadTs);
  const own = ownEphemerals(data, channel, viewer, (message) => message.thread_ts === threadTs);
  return { root: all.find((message) => message.ts === threadTs), replies: merged(replies, own) };
}

/**
 * @param {Data} data
 * @param {string} channel
 * @param {string} viewer
 * @param {(message: Message) => boolean} belongs
 */
function ownEphemerals(data, channel, viewer, belongs) {
  return (data.snapshot?.ephemerals ?? [])
    .filter((one) => one.userId === viewer && one.message.channel === channel && belongs(one.message))
    .map((one) => one.message);
}

/**
 * @param {Message[]} shared
 * @param {Message[]} own
 */
function merged(shared, own) {
  const all = [
    ...shared.map((message) => ({ message, ephemeral: false })),
    ...own.map((message) => ({ message, ephemeral: true })),
  ];
  return own.length === 0
    ? all
    : all.toSorted((a, b) => (a.message.ts < b.message.ts ? -1 : a.message.ts > b.message.ts ? 1 : 0));
}

/**
 * Unread messages by others and how many of them mention this person.
 * @param {Data} data
 * @param {string} channel
 * @param {string} viewer
 */
export function unread(data, channel, viewer) {
  const last = data.snapshot?.lastRead[viewer]?.[channel] ?? '0';
  const fresh = (data.messages.get(channel) ?? []).filter(
    (message) => message.ts > last && message.user !== viewer && !isReply(message) && !isSystem(message),
  );
  return { count: fresh.length, mentions: fresh.filter((message) => mentions(data, message, viewer)).length };
}

/**
 * @param {Data} data
 * @param {Message} message
 * @param {string} viewer
 */
function mentions(data, message, viewer) {
  if (message.text.includes(`<@${viewer}`) || /<!(here|channel|everyone)/.test(message.text)) return true;
  return [...data.groups.values()].some(
    (group) => group.users.includes(viewer) && message.text.includes(`<!subteam^${group.id}`),
  );
}

/**
 * Who wrote a message, as it is shown.
 * @param {Data} data
 * @param {Message} message
 * @returns {{ id: string, name: string, isApp: boolean, emoji: string | undefined, image: string | undefined }}
 */
export function author(data, message) {
  const user = message.user === undefined ? botUser(data, message.bot_id) : data.users.get(message.user);
  const isApp = message.bot_id !== undefined || user?.is_bot === true;
  const name = message.username ?? message.bot_profile?.name ?? user?.real_name ?? user?.name;
  return {
    id: user?.id ?? message.bot_id ?? message.user ?? 'unknown',
    name: name ?? (isApp ? 'App' : 'Somebody'),
    isApp,
    emoji: message.icons?.emoji?.replaceAll(':', ''),
    image: message.icons?.image_64,
  };
}

/**
 * @param {Data} data
 * @param {string | undefined} botId
 */
function botUser(data, botId) {
  if (botId === undefined) return undefined;
  return [...data.users.values()].find((user) => user.profile.bot_id === botId);
}
