import type { Block, Channel, Ephemeral, Message, User, UserGroup, View } from './slack-shapes.ts';

/**
 * The page's API, types only.
 *
 * - `GET /page/ws` (WebSocket): the server sends one `snapshot`, then `PageDelta`s, each a JSON text frame.
 *   The page sends nothing on it. After a reconnect there is a new snapshot, so a page keeps no queue.
 * - `POST /page/api/<action>` with a JSON body from `PageActions`; answers `PageAnswer`, always HTTP 200 unless
 *   the request itself is malformed (400), unknown (404) or from another origin (403).
 *
 * One page serves all users: every action names its `userId`, and per-user parts of the snapshot are keyed by
 * user id. The control API (`control-api.ts`) offers the same actions under `POST /control/act/<action>`.
 */

/** Everything the page shows. Messages are in `ts` order; thread replies are in the same list as their roots. */
export interface PageSnapshot {
  readonly type: 'snapshot';
  readonly team: { readonly id: string; readonly name: string };
  /** People a visitor can be, in the order to offer them. Bots are in `users` only. */
  readonly people: readonly Person[];
  readonly users: readonly User[];
  readonly userGroups: readonly UserGroup[];
  readonly channels: readonly Channel[];
  /** channel id → messages. */
  readonly messages: Readonly<Record<string, readonly Message[]>>;
  readonly ephemerals: readonly Ephemeral[];
  /** user id → open modals, bottom first; the last one is on top. Absent or empty: none open. */
  readonly views: Readonly<Record<string, readonly View[]>>;
  /** user id → the app's Home view as last published. */
  readonly homes: Readonly<Record<string, View>>;
  /** user id → channel id → ts of the last message read. Newer messages by others are unread. */
  readonly lastRead: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly commands: readonly SlashCommand[];
  /** Message shortcuts, for a message's "more actions" menu. */
  readonly shortcuts: readonly Shortcut[];
  readonly faults: FaultPanel;
  /** Live "is investigating…" lines, by thread. */
  readonly statuses: readonly ThreadStatus[];
  /** channel id → what the app offers to ask in this direct message. */
  readonly prompts: Readonly<Record<string, Prompts>>;
  /** `channel/thread_ts` → what the app calls this conversation. */
  readonly titles: Readonly<Record<string, string>>;
  /** Pinned messages and bookmarks by channel. */
  readonly pins: Readonly<Record<string, readonly string[]>>;
  readonly bookmarks: Readonly<Record<string, readonly Bookmark[]>>;
  readonly bot: BotConnection;
}

export type PageDelta =
  | { readonly type: 'message'; readonly message: Message } // new or changed: replace by channel + ts
  | { readonly type: 'message_deleted'; readonly channel: string; readonly ts: string }
  | { readonly type: 'ephemeral'; readonly ephemeral: Ephemeral } // new or changed: replace by user + channel + ts
  | {
      readonly type: 'ephemeral_deleted';
      readonly userId: string;
      readonly channel: string;
      readonly ts: string;
    }
  | { readonly type: 'views'; readonly userId: string; readonly stack: readonly View[] }
  | { readonly type: 'home'; readonly userId: string; readonly view: View }
  | { readonly type: 'last_read'; readonly userId: string; readonly channel: string; readonly ts: string }
  | { readonly type: 'channel'; readonly channel: Channel } // new or changed
  | { readonly type: 'faults'; readonly faults: FaultPanel }
  | { readonly type: 'status'; readonly status: ThreadStatus } // empty text: remove the line
  | { readonly type: 'prompts'; readonly channel: string; readonly prompts: Prompts }
  | { readonly type: 'title'; readonly thread: string; readonly title: string }
  | { readonly type: 'pins'; readonly channel: string; readonly ts: readonly string[] }
  | { readonly type: 'bookmarks'; readonly channel: string; readonly bookmarks: readonly Bookmark[] }
  | { readonly type: 'bot'; readonly bot: BotConnection }
  /** What Slack shows one person in passing, e.g. "Sentry did not respond" after 3 s without an ack. */
  | { readonly type: 'notice'; readonly userId: string; readonly text: string };

export type PageFrame = PageSnapshot | PageDelta;

/** A message as it was from then on. */
export interface RecordedFrame {
  readonly atMs: number;
  readonly message: Message;
}

export interface Person {
  readonly userId: string;
  /** What the switcher says: "Olivia · on-call engineer". */
  readonly label: string;
  readonly role: 'on-call' | 'admin' | 'stranger';
}

export interface SlashCommand {
  readonly command: string;
  readonly description: string;
  readonly usage_hint: string;
}

export interface Shortcut {
  readonly callback_id: string;
  readonly name: string;
  readonly type: 'message' | 'global';
}

export interface Prompts {
  readonly title: string;
  /** `title` is what the button says, `message` what is sent. */
  readonly prompts: ReadonlyArray<{ readonly title: string; readonly message: string }>;
}

export interface Bookmark {
  readonly id: string;
  readonly title: string;
  readonly link: string;
}

export interface ThreadStatus {
  readonly channel: string;
  readonly thread_ts: string;
  readonly botId: string;
  /** Empty: no status. */
  readonly text: string;
  /** The older assistant status ends with the app's next reply; a session's state does not. */
  readonly clearsOnReply: boolean;
}

/** `mode`: how events reach the bot; `connections`: open Socket Mode connections (0 over HTTP). */
export interface BotConnection {
  readonly mode: 'socket' | 'http' | 'none';
  readonly connections: number;
}

/**
 * The panel "Cause an incident". `available` is false when no faults server was given or it does not answer;
 * `reason` then says why, in a sentence.
 */
export interface FaultPanel {
  readonly available: boolean;
  readonly reason?: string;
  readonly faults: readonly Fault[];
}

export interface Fault {
  readonly id: string;
  /** Where it happens, as people call it: `shop-db`, `Docker`. */
  readonly system: string;
  readonly title: string;
  readonly description: string;
  /** Why it cannot be caused here, and what would change that; null: it can. */
  readonly impossible: string | null;
  /** Sentry names its cause, and hands it over. */
  readonly needsPeople: boolean;
  /** What its alert is called. */
  readonly alertname: string;
  /** Whether the system is ill of it right now, whoever caused it. */
  readonly holds: boolean;
  /** Whether somebody has been alerted on it, and not been told yet that it is over. */
  readonly fires: boolean;
  readonly state: 'idle' | 'causing' | 'active' | 'undoing' | 'failed';
  /** What went wrong, when `state` is `failed`; otherwise what it does now, if there is something to say. */
  readonly detail?: string;
}

/** What the user did to an element. The server finds the element by block_id and action_id and fills in the rest. */
export type ElementInput =
  | { readonly kind: 'press' } // button, icon_button, feedback_buttons use `option` with the pressed value
  | { readonly kind: 'option'; readonly value: string } // static/external select, radio, overflow, feedback_buttons
  | { readonly kind: 'options'; readonly values: readonly string[] } // multi select, checkboxes
  | { readonly kind: 'text'; readonly value: string } // plain_text_input, email, url, number
  | { readonly kind: 'date'; readonly value: string } // YYYY-MM-DD
  | { readonly kind: 'time'; readonly value: string } // HH:mm
  | { readonly kind: 'datetime'; readonly value: number } // unix seconds
  | { readonly kind: 'id'; readonly value: string } // users/channels/conversations select
  | { readonly kind: 'ids'; readonly values: readonly string[] };

/** Everything entered so far in the message or view: block_id → action_id → input. Untouched elements are left out. */
export type FormInput = Readonly<Record<string, Readonly<Record<string, ElementInput>>>>;

export type ActionContainer =
  | { readonly type: 'message'; readonly channel: string; readonly ts: string } // ephemerals too, by their ts
  | { readonly type: 'view'; readonly viewId: string }; // modal or home

interface OnMessage {
  readonly userId: string;
  readonly channel: string;
  readonly ts: string;
}

interface OnElement {
  readonly userId: string;
  readonly container: ActionContainer;
  readonly block_id: string;
  readonly action_id: string;
}

/** Body of `POST /page/api/<key>`. */
export interface PageActions {
  'message.post': {
    readonly userId: string;
    readonly channel: string;
    readonly text: string;
    readonly thread_ts?: string;
    readonly reply_broadcast?: boolean;
  };
  'message.edit': OnMessage & { readonly text: string };
  'message.delete': OnMessage;
  /** `text` is all that was typed, "/sentry why INC-1". Not possible in threads, as in Slack. */
  'command.run': { readonly userId: string; readonly channel: string; readonly text: string };
  /** A press or choice; `form` is what else stands in the same message or view (for `state.values`). */
  'block.action': OnElement & { readonly input: ElementInput; readonly form?: FormInput };
  /** `errors` in the answer: block_id → text to show under that input; the modal stays open. */
  'view.submit': { readonly userId: string; readonly viewId: string; readonly form: FormInput };
  /** `all` closes the whole stack (the ✕), otherwise only the top one (Back / Cancel). */
  'view.close': { readonly userId: string; readonly viewId: string; readonly all?: boolean };
  /** `tab` "home" (dashboard) or "messages" (the direct message). */
  'home.open': { readonly userId: string; readonly tab?: 'home' | 'messages' };
  'shortcut.message': OnMessage & { readonly callback_id: string };
  'shortcut.global': { readonly userId: string; readonly callback_id: string };
  /** Adds the user's reaction, or takes it back. `name` without colons. */
  'reaction.toggle': OnMessage & { readonly name: string };
  'read.mark': OnMessage;
  'ephemeral.dismiss': OnMessage;
  'channel.join': { readonly userId: string; readonly channel: string };
  /** Opens (or finds) the direct message between this user and the app; `channel` in the answer. */
  'dm.open': { readonly userId: string };
  /** Asks the app for `external_select` options; `options` in the answer. */
  'options.load': OnElement & { readonly query: string };
  /** How a thread came to be since the server started; `frames` in the answer. */
  'thread.recording': { readonly userId: string; readonly channel: string; readonly thread_ts: string };
  /** Slack's own *Stop* below an agent's thread: its streams take nothing more, and the app is told. */
  'session.stop': { readonly userId: string; readonly channel: string; readonly thread_ts: string };
  'fault.cause': { readonly userId: string; readonly id: string };
  'fault.undo': { readonly userId: string; readonly id: string };
}

export type PageActionName = keyof PageActions;

/**
 * `ok: false` carries a code (`dispatch_failed`: the app did not acknowledge within 3 s; `not_in_channel`,
 * `view_not_found`, …) and a sentence for the person.
 */
export type PageAnswer =
  | {
      readonly ok: true;
      readonly ts?: string;
      readonly channel?: string;
      readonly errors?: Readonly<Record<string, string>>;
      readonly options?: readonly Block[];
      readonly frames?: readonly RecordedFrame[];
    }
  | { readonly ok: false; readonly error: string; readonly reason: string };

/**
 * What this server expects from the faults server given by `--faults-url`:
 * `GET <url>/faults` → `{ faults: Fault[] }`; `POST <url>/faults/<id>/cause` and `…/undo` → `{ ok: true }` or
 * `{ ok: false, reason }`, answered when the fault is in place (or gone).
 */
export interface FaultsAnswer {
  readonly faults: readonly Fault[];
}
