/**
 * The shapes the local Slack workspace keeps and serves, spelled as Slack spells them on the wire
 * (docs.slack.dev, and `@slack/types`). Blocks and views stay loosely typed here on purpose: they come from
 * apps, and `limits.ts` is what decides whether they are acceptable.
 */

/** Any Block Kit block, element or composition object. */
export type Block = { readonly type: string; readonly block_id?: string } & {
  readonly [key: string]: unknown;
};

export interface User {
  readonly id: string;
  readonly team_id: string;
  readonly name: string;
  readonly real_name: string;
  readonly is_bot: boolean;
  readonly is_admin: boolean;
  readonly is_owner: boolean;
  /** A guest, who sees only the channels they were invited to. */
  readonly is_restricted?: boolean;
  readonly tz: string;
  readonly deleted: boolean;
  readonly profile: {
    readonly display_name: string;
    readonly real_name: string;
    readonly title: string;
    readonly bot_id?: string;
    readonly api_app_id?: string;
  };
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly is_channel: boolean;
  readonly is_im: boolean;
  readonly is_private: boolean;
  /** People of another company are in it (Slack Connect). */
  readonly is_ext_shared?: boolean;
  readonly topic: string;
  readonly members: readonly string[];
  readonly created: number;
  /** The other side of a direct message, seen from the app's bot: the human. Only when `is_im`. */
  readonly user?: string;
}

export interface UserGroup {
  readonly id: string;
  readonly team_id: string;
  readonly handle: string;
  readonly name: string;
  readonly users: readonly string[];
}

export interface BotProfile {
  readonly id: string;
  readonly app_id: string;
  readonly name: string;
  readonly team_id: string;
}

export interface Reaction {
  readonly name: string;
  readonly users: readonly string[];
  readonly count: number;
}

export interface SlackFile {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly mimetype: string;
  readonly size: number;
  readonly user: string;
  /** Served by this server; the page can link to it. */
  readonly url_private: string;
  readonly permalink: string;
}

export interface Attachment {
  readonly fallback?: string;
  readonly color?: string;
  readonly pretext?: string;
  readonly title?: string;
  readonly title_link?: string;
  readonly text?: string;
  readonly footer?: string;
  readonly ts?: number | string;
  readonly fields?: ReadonlyArray<{
    readonly title?: string;
    readonly value?: string;
    readonly short?: boolean;
  }>;
  readonly blocks?: readonly Block[];
  readonly [key: string]: unknown;
}

export interface MessageMetadata {
  readonly event_type: string;
  readonly event_payload: Readonly<Record<string, unknown>>;
}

/**
 * One message. `ts` identifies it within its channel. A thread's root carries `thread_ts === ts` from its first
 * reply on; a reply carries the root's `ts` in `thread_ts`. A classic webhook's message has `subtype:
 * 'bot_message'`, a `bot_id`, and no `user`; a modern app's has `user`, `bot_id`, `app_id` and `bot_profile`.
 */
export interface Message {
  readonly type: 'message';
  readonly channel: string;
  readonly ts: string;
  readonly text: string;
  readonly subtype?: string;
  readonly user?: string;
  readonly bot_id?: string;
  readonly app_id?: string;
  readonly bot_profile?: BotProfile;
  readonly username?: string;
  readonly icons?: { readonly emoji?: string; readonly image_64?: string };
  readonly blocks?: readonly Block[];
  readonly attachments?: readonly Attachment[];
  readonly metadata?: MessageMetadata;
  readonly edited?: { readonly user: string; readonly ts: string };
  readonly thread_ts?: string;
  readonly reply_count?: number;
  readonly reply_users?: readonly string[];
  readonly reply_users_count?: number;
  readonly latest_reply?: string;
  readonly reactions?: readonly Reaction[];
  readonly files?: readonly SlackFile[];
  readonly client_msg_id?: string;
  readonly pinned_to?: readonly string[];
  /** A reply also shown in the channel (`subtype: 'thread_broadcast'`). */
  readonly root_ts?: string;
  /** While a `chat.startStream` message is still open; gone when it is finalised. */
  readonly streaming_state?: 'in_progress';
}

/** A message only one user sees. It is not stored by Slack: it vanishes when that user reloads. */
export interface Ephemeral {
  readonly userId: string;
  readonly message: Message;
}

/** One modal or home view, as `views.*` return it. */
export interface View {
  readonly id: string;
  readonly team_id: string;
  readonly app_id: string;
  readonly bot_id: string;
  readonly type: 'modal' | 'home';
  readonly title?: Block;
  readonly submit?: Block | null;
  readonly close?: Block | null;
  readonly blocks: readonly Block[];
  readonly private_metadata: string;
  readonly callback_id: string;
  readonly external_id: string;
  readonly state: { readonly values: StateValues };
  readonly hash: string;
  readonly clear_on_close: boolean;
  readonly notify_on_close: boolean;
  readonly root_view_id: string;
  readonly previous_view_id: string | null;
}

/** What a user has entered, as Slack sends it: block_id → action_id → element state. */
export type StateValues = Readonly<Record<string, Readonly<Record<string, ElementState>>>>;

export interface ElementState {
  readonly type: string;
  readonly value?: string | null;
  readonly selected_option?: OptionValue | null;
  readonly selected_options?: readonly OptionValue[];
  readonly selected_date?: string | null;
  readonly selected_time?: string | null;
  readonly selected_date_time?: number | null;
  readonly selected_user?: string | null;
  readonly selected_users?: readonly string[];
  readonly selected_channel?: string | null;
  readonly selected_channels?: readonly string[];
  readonly selected_conversation?: string | null;
  readonly selected_conversations?: readonly string[];
}

export interface OptionValue {
  readonly text: Block;
  readonly value: string;
}
