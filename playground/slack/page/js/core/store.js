/**
 * The page's one state: what the server said (`data`) and what this person is looking at (`ui`).
 * Frames replace objects instead of changing them, so that an unchanged message can be recognised by identity.
 */

/**
 * @typedef {import('./types.js').PageSnapshot} PageSnapshot @typedef {import('./types.js').PageFrame} PageFrame
 * @typedef {import('./types.js').PageDelta} PageDelta @typedef {import('./types.js').Message} Message
 *
 * @typedef {{
 *   snapshot: PageSnapshot | null,
 *   users: Map<string, import('./types.js').User>,
 *   channels: Map<string, import('./types.js').Channel>,
 *   groups: Map<string, import('./types.js').UserGroup>,
 *   messages: Map<string, Message[]>,
 *   version: number,
 * }} Data
 */

/** @returns {Data} */
export function emptyData() {
  return { snapshot: null, users: new Map(), channels: new Map(), groups: new Map(), messages: new Map(), version: 0 };
}

/**
 * The state after one frame. Notices and connection changes are not state of the workspace: see `app.js`.
 * @param {Data} data
 * @param {PageFrame} frame
 * @returns {Data}
 */
export function applyFrame(data, frame) {
  if (frame.type === 'snapshot') return fromSnapshot(frame, data.version + 1);
  if (data.snapshot === null) return data;
  return applyDelta(data, data.snapshot, frame);
}

/**
 * @param {PageSnapshot} snapshot
 * @param {number} version
 * @returns {Data}
 */
function fromSnapshot(snapshot, version) {
  return {
    snapshot,
    users: new Map(snapshot.users.map((user) => [user.id, user])),
    channels: new Map(snapshot.channels.map((channel) => [channel.id, channel])),
    groups: new Map(snapshot.userGroups.map((group) => [group.id, group])),
    messages: new Map(Object.entries(snapshot.messages).map(([id, list]) => [id, [...list]])),
    version,
  };
}

/**
 * @param {Data} data
 * @param {PageSnapshot} snapshot
 * @param {PageDelta} delta
 * @returns {Data}
 */
function applyDelta(data, snapshot, delta) {
  const withSnapshot = (/** @type {Partial<PageSnapshot>} */ change) => ({
    ...data,
    snapshot: { ...snapshot, ...change },
  });
  switch (delta.type) {
    case 'message':
      return putMessage(data, delta.message);
    case 'message_deleted':
      return withMessages(data, delta.channel, (list) => list.filter((message) => message.ts !== delta.ts));
    case 'ephemeral': {
      const { userId, message } = delta.ephemeral;
      const others = withoutEphemeral(snapshot, userId, message.channel, message.ts);
      return withSnapshot({ ephemerals: [...others, delta.ephemeral] });
    }
    case 'ephemeral_deleted':
      return withSnapshot({ ephemerals: withoutEphemeral(snapshot, delta.userId, delta.channel, delta.ts) });
    case 'views':
      return withSnapshot({ views: { ...snapshot.views, [delta.userId]: delta.stack } });
    case 'home':
      return withSnapshot({ homes: { ...snapshot.homes, [delta.userId]: delta.view } });
    case 'last_read': {
      const own = { ...snapshot.lastRead[delta.userId], [delta.channel]: delta.ts };
      return withSnapshot({ lastRead: { ...snapshot.lastRead, [delta.userId]: own } });
    }
    case 'channel':
      return {
        ...data,
        channels: new Map(data.channels).set(delta.channel.id, delta.channel),
        version: data.version + 1,
      };
    case 'faults':
      return withSnapshot({ faults: delta.faults });
    case 'status': {
      const { channel, thread_ts } = delta.status;
      const others = snapshot.statuses.filter((one) => one.channel !== channel || one.thread_ts !== thread_ts);
      return withSnapshot({ statuses: delta.status.text === '' ? others : [...others, delta.status] });
    }
    case 'prompts':
      return withSnapshot({ prompts: { ...snapshot.prompts, [delta.channel]: delta.prompts } });
    case 'title':
      return withSnapshot({ titles: { ...snapshot.titles, [delta.thread]: delta.title } });
    case 'pins':
      return withSnapshot({ pins: { ...snapshot.pins, [delta.channel]: delta.ts } });
    case 'bookmarks':
      return withSnapshot({ bookmarks: { ...snapshot.bookmarks, [delta.channel]: delta.bookmarks } });
    case 'bot':
      return withSnapshot({ bot: delta.bot });
    default:
      return data;
  }
}

/**
 * @param {PageSnapshot} snapshot
 * @param {string} userId
 * @param {string} channel
 * @param {string} ts
 */
function withoutEphemeral(snapshot, userId, channel, ts) {
  return snapshot.ephemerals.filter(
    (one) => one.userId !== userId || one.message.channel !== channel || one.message.ts !== ts,
  );
}

/**
 * @param {Data} data
 * @param {string} channel
 * @param {(list: Message[]) => Message[]} change
 * @returns {Data}
 */
function withMessages(data, channel, change) {
  return { ...data, messages: new Map(data.messages).set(channel, change(data.messages.get(channel) ?? [])) };
}

/**
 * Replaces the message with the same ts, or inserts it in ts order.
 * @param {Data} data
 * @param {Message} message
 */
function putMessage(data, message) {
  return withMessages(data, message.channel, (list) => {
    const at = list.findIndex((one) => one.ts === message.ts);
    if (at !== -1) return list.with(at, message);
    const after = list.findLastIndex((one) => one.ts < message.ts);
    return list.toSpliced(after + 1, 0, message);
  });
}
