import { Journal } from './journal.ts';
import type { Bookmark, PageDelta, Prompts, ThreadStatus } from './page-api.ts';
import { SEED_CHANNELS, SEED_USER_GROUPS, SEED_USERS, TEAM } from './seed.ts';
import { SlackError } from './slack-error.ts';
import type { Channel, Ephemeral, Message, User, UserGroup, View } from './slack-shapes.ts';

/**
 * Everything the workspace remembers, and who is told when it changes. It knows shapes and identity, not rules:
 * the methods decide what may be done. Every change goes to the journal first and then, as a `PageDelta`, to the
 * listeners (the pages).
 */
export class Workspace {
  readonly #journal: Journal;
  readonly #now: () => number;
  readonly #listeners = new Set<(delta: PageDelta) => void>();
  readonly #messages = new Map<string, Map<string, Message>>();
  readonly #ephemerals = new Map<string, Ephemeral>();
  readonly #statuses = new Map<string, { readonly status: ThreadStatus; readonly timer: NodeJS.Timeout }>();
  #lastMicros = 0;

  constructor(options: { readonly dir?: string; readonly now: () => number }) {
    this.#journal = new Journal(options.dir);
    this.#now = options.now;
    this.#seed();
    for (const message of this.#journal.values<Message>('messages')) this.#index(message);
  }

  get journal(): Journal {
    return this.#journal;
  }

  now(): number {
    return this.#now();
  }

  onDelta(listener: (delta: PageDelta) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(delta: PageDelta): void {
    for (const listener of this.#listeners) listener(delta);
  }

  /** A timestamp no message has had: `seconds.micros`, strictly growing, also over restarts. */
  nextTs(): string {
    this.#lastMicros = Math.max(this.#now() * 1000, this.#lastMicros + 1);
    const micros = String(this.#lastMicros);
    return `${micros.slice(0, -6)}.${micros.slice(-6)}`;
  }

  users(): User[] {
    return this.#journal.values('users');
  }

  putUser(user: User): void {
    this.#journal.put('users', user.id, user);
  }

  user(id: string): User {
    const user = this.#journal.get<User>('users', id);
    if (user === undefined) throw new SlackError('user_not_found');
    return user;
  }

  userGroups(): UserGroup[] {
    return this.#journal.values('usergroups');
  }

  putUserGroup(group: UserGroup): void {
    this.#journal.put('usergroups', group.id, group);
  }

  channels(): Channel[] {
    return this.#journal.values('channels');
  }

  channel(id: string): Channel {
    const channel = this.#journal.get<Channel>('channels', id);
    if (channel === undefined) throw new SlackError('channel_not_found');
    return channel;
  }

  /** The channel, for somebody in it. Throws `not_in_channel`. */
  channelFor(id: string, userId: string): Channel {
    const channel = this.channel(id);
    if (!channel.members.includes(this.user(userId).id)) throw new SlackError('not_in_channel');
    return channel;
  }

  putChannel(channel: Channel): void {
    this.#journal.put('channels', channel.id, channel);
    this.publish({ type: 'channel', channel });
  }

  /** The direct message between the bot and a person; made on first use. */
  directMessage(userId: string, botUserId: string): Channel {
    const user = this.user(userId);
    const id = `D${userId.slice(1)}${botUserId.slice(1)}`;
    const known = this.#journal.get<Channel>('channels', id);
    if (known !== undefined) return known;
    const channel: Channel = {
      id,
      name: user.name,
      is_channel: false,
      is_im: true,
      is_private: true,
      topic: '',
      members: [userId, botUserId],
      created: Math.floor(this.#now() / 1000),
      user: userId,
    };
    this.putChannel(channel);
    return channel;
  }

  /** In `ts` order, replies among roots. */
  messages(channel: string): Message[] {
    return [...(this.#messages.get(channel)?.values() ?? [])];
  }

  findMessage(channel: string, ts: string): Message | undefined {
    return this.#messages.get(channel)?.get(ts);
  }

  message(channel: string, ts: string): Message {
    const message = this.findMessage(channel, ts);
    if (message === undefined) throw new SlackError('message_not_found');
    return message;
  }

  putMessage(message: Message): void {
    this.#journal.put('messages', `${message.channel}/${message.ts}`, message);
    this.#index(message);
    this.publish({ type: 'message', message });
  }

  deleteMessage(channel: string, ts: string): void {
    this.#journal.delete('messages', `${channel}/${ts}`);
    this.#messages.get(channel)?.delete(ts);
    this.publish({ type: 'message_deleted', channel, ts });
  }

  /** Ephemerals are not kept over a restart, as in Slack. */
  ephemerals(): Ephemeral[] {
    return [...this.#ephemerals.values()];
  }

  findEphemeral(userId: string, channel: string, ts: string): Ephemeral | undefined {
    return this.#ephemerals.get(`${userId}/${channel}/${ts}`);
  }

  putEphemeral(ephemeral: Ephemeral): void {
    const { channel, ts } = ephemeral.message;
    this.#ephemerals.set(`${ephemeral.userId}/${channel}/${ts}`, ephemeral);
    this.publish({ type: 'ephemeral', ephemeral });
  }

  deleteEphemeral(userId: string, channel: string, ts: string): void {
    if (!this.#ephemerals.delete(`${userId}/${channel}/${ts}`)) return;
    this.publish({ type: 'ephemeral_deleted', userId, channel, ts });
  }

  /** Open modals of one person, bottom first. */
  views(userId: string): readonly View[] {
    return this.#journal.get<View[]>('views', userId) ?? [];
  }

  viewStacks(): Array<[string, readonly View[]]> {
    return this.#journal.entries('views');
  }

  putViews(userId: string, stack: readonly View[]): void {
    if (stack.length === 0) this.#journal.delete('views', userId);
    else this.#journal.put('views', userId, stack);
    this.publish({ type: 'views', userId, stack });
  }

  home(userId: string): View | undefined {
    return this.#journal.get('homes', userId);
  }

  homes(): Array<[string, View]> {
    return this.#journal.entries('homes');
  }

  putHome(userId: string, view: View): void {
    this.#journal.put('homes', userId, view);
    this.publish({ type: 'home', userId, view });
  }

  lastRead(): Record<string, Record<string, string>> {
    return Object.fromEntries(this.#journal.entries<Record<string, string>>('last_read'));
  }

  markRead(userId: string, channel: string, ts: string): void {
    const marks = this.#journal.get<Record<string, string>>('last_read', userId) ?? {};
    this.#journal.put('last_read', userId, { ...marks, [channel]: ts });
    this.publish({ type: 'last_read', userId, channel, ts });
  }

  pins(channel: string): readonly string[] {
    return this.#journal.get<string[]>('pins', channel) ?? [];
  }

  pin(channel: string, ts: string): void {
    const pins = [...this.pins(channel), ts];
    this.#journal.put('pins', channel, pins);
    this.publish({ type: 'pins', channel, ts: pins });
  }

  bookmarks(channel: string): readonly Bookmark[] {
    return this.#journal.get<Bookmark[]>('bookmarks', channel) ?? [];
  }

  addBookmark(channel: string, bookmark: Bookmark): void {
    const bookmarks = [...this.bookmarks(channel), bookmark];
    this.#journal.put('bookmarks', channel, bookmarks);
    this.publish({ type: 'bookmarks', channel, bookmarks });
  }

  /** What the app offers to ask in a direct message. */
  prompts(): Record<string, Prompts> {
    return Object.fromEntries(this.#journal.entries<Prompts>('prompts'));
  }

  setPrompts(channel: string, prompts: Prompts): void {
    this.#journal.put('prompts', channel, prompts);
    this.publish({ type: 'prompts', channel, prompts });
  }

  /** What conversations are called, by `channel/thread_ts`. */
  titles(): Record<string, string> {
    return Object.fromEntries(this.#journal.entries<string>('titles'));
  }

  setTitle(
    thread: { readonly channel: string; readonly thread_ts: string },
    title: string,
    options: { readonly onlyNew?: boolean } = {},
  ): void {
    const key = `${thread.channel}/${thread.thread_ts}`;
    if (options.onlyNew === true && this.#journal.get('titles', key) !== undefined) return;
    this.#journal.put('titles', key, title);
    this.publish({ type: 'title', thread: key, title });
  }

  /** Who is working where; gone after a restart, as it would be in Slack soon anyway. */
  statuses(): ThreadStatus[] {
    return [...this.#statuses.values()].map(({ status }) => status);
  }

  /** `endsAfterMs`: it goes by itself then. An empty text takes it away. */
  setStatus(status: ThreadStatus, endsAfterMs: number): void {
    const key = `${status.channel}/${status.thread_ts}`;
    clearTimeout(this.#statuses.get(key)?.timer);
    if (status.text === '') this.#statuses.delete(key);
    else {
      const timer = setTimeout(() => this.setStatus({ ...status, text: '' }, 0), endsAfterMs).unref();
      this.#statuses.set(key, { status, timer });
    }
    this.publish({ type: 'status', status });
  }

  /** The app has answered in the thread: its "is typing" line goes, unless it set a session's state. */
  clearStatus(channel: string, threadTs: string): void {
    const status = this.#statuses.get(`${channel}/${threadTs}`)?.status;
    if (status?.clearsOnReply === true) this.setStatus({ ...status, text: '' }, 0);
  }

  close(): void {
    this.#listeners.clear();
    for (const { timer } of this.#statuses.values()) clearTimeout(timer);
    this.#journal.close();
  }

  #seed(): void {
    if (this.#journal.get('meta', 'team') !== undefined) return;
    for (const user of SEED_USERS) this.#journal.put('users', user.id, user);
    for (const channel of SEED_CHANNELS) this.#journal.put('channels', channel.id, channel);
    for (const group of SEED_USER_GROUPS) this.#journal.put('usergroups', group.id, group);
    this.#journal.put('meta', 'team', TEAM);
  }

  #index(message: Message): void {
    let channel = this.#messages.get(message.channel);
    if (channel === undefined) {
      channel = new Map();
      this.#messages.set(message.channel, channel);
    }
    channel.set(message.ts, message);
    this.#lastMicros = Math.max(this.#lastMicros, Number(message.ts.replace('.', '')));
  }
}
