import type { Message } from './slack-shapes.ts';

/**
 * The control API, types only: `POST /control/<name>` with a JSON body answers `{ ok: true, … }`, or
 * `{ ok: false, error, reason }`. It is how a test misuses the workspace, and how it acts as a person without a
 * browser: `POST /control/act/<action>` takes every action of `PageActions` (page-api.ts).
 */
export interface ControlRequests {
  /** Takes back every switch below; messages and counters stay. */
  reset: Record<never, never>;
  /**
   * The next `times` calls (of `method`, or of any) fail.
   * - `rate_limited`: 429 with `retry_after_s` (default 1), without effect; calls of the method before that count
   *   as `early`
   * - `server_error`: 500 before anything happened
   * - `server_error_after`: 500 although the call took effect
   * - `hang_up`: the connection is cut before anything happened; `hang_up_after`: after it took effect
   * - `error`: `{ ok: false, error }` with the given code, without effect
   */
  fail: {
    readonly kind:
      | 'rate_limited'
      | 'server_error'
      | 'server_error_after'
      | 'hang_up'
      | 'hang_up_after'
      | 'error';
    readonly method?: string;
    readonly times?: number;
    readonly retry_after_s?: number;
    readonly error?: string;
  };
  /** These methods answer `unknown_method` until the list is replaced. */
  'unknown-methods': { readonly methods: readonly string[] };
  /** An older workspace: whatever has a block of one of these types is refused, until the list is replaced. */
  'unknown-blocks': { readonly types: readonly string[] };
  /** These arguments of any method are ignored as if never sent, e.g. `['metadata']`. */
  'drop-fields': { readonly fields: readonly string[] };
  /** Every call (of `method`, or any) takes this much longer; 0 ends it. */
  delay: { readonly ms: number; readonly method?: string };
  /** While frozen, API calls, deliveries and acks hang; they go on when thawed. */
  freeze: { readonly frozen: boolean };
  /** The next `times` events (of `event`, e.g. "app_mention", or any) are never delivered. */
  'lose-events': { readonly times: number; readonly event?: string };
  /** The next `times` events are delivered twice, with the same `event_id`. */
  'double-events': { readonly times: number; readonly event?: string };
  /** `refresh`: Slack's polite `disconnect`; `abrupt`: the socket is cut. */
  disconnect: { readonly how: 'refresh' | 'abrupt' };
  /** Rate limits: `speed` 10 lets ten times as much through; `enabled: false` turns them off. */
  'rate-limits': { readonly enabled?: boolean; readonly speed?: number };
  timing: Partial<Timing>;
  /** Where events, interactions and commands go over HTTP; `null`: Socket Mode. `verify` does the url_verification. */
  'events-url': { readonly url: string | null; readonly verify?: boolean };
  /** Sends any event to the app, as Slack would, e.g. `{ type: 'agent_session_stopped', … }`. */
  'emit-event': { readonly event: { readonly type: string } & Readonly<Record<string, unknown>> };
  /** Posts as another app: `classic` is a bot_message without a user, `modern` has user, bot_id and bot_profile. */
  'post-as-app': {
    readonly channel?: string;
    readonly kind?: 'classic' | 'modern';
    readonly text?: string;
    readonly username?: string;
    readonly attachments?: readonly unknown[];
    readonly blocks?: readonly unknown[];
    readonly thread_ts?: string;
  };
  /** Changes what another app posted, as newer Alertmanagers do. */
  'update-as-app': {
    readonly channel: string;
    readonly ts: string;
    readonly text?: string;
    readonly attachments?: readonly unknown[];
    readonly blocks?: readonly unknown[];
  };
  /** Turns a channel into a private one, or back. */
  'channel-privacy': { readonly channel: string; readonly is_private: boolean };
  /** Makes a channel, or changes one. */
  channel: {
    readonly id: string;
    readonly name?: string;
    readonly members?: readonly string[];
    readonly is_private?: boolean;
    readonly is_ext_shared?: boolean;
  };
  /** Changes what `users.info` tells of somebody: a guest, an admin, of another workspace. */
  user: { readonly id: string } & Readonly<Record<string, unknown>>;
  /** What the bot's token may do, as `x-oauth-scopes` tells it; null: what it was seeded with. */
  scopes: { readonly scopes: readonly string[] | null };
  'user-group': { readonly id: string; readonly users: readonly string[] };
  /** Makes somebody a guest, or a full member again. */
  guest: { readonly userId: string; readonly is_restricted: boolean };
  /** A window that stands before somebody, whoever opened it and when. */
  'open-view': { readonly userId: string; readonly view: unknown };
  messages: { readonly channel?: string; readonly thread_ts?: string };
  /** The whole `PageSnapshot`. */
  snapshot: Record<never, never>;
  counters: Record<never, never>;
  deliveries: Record<never, never>;
}

export type ControlName = keyof ControlRequests;

/** All in milliseconds but `retryFactor`. */
export interface Timing {
  /** How long the app has to acknowledge; Slack's 3000. */
  readonly ackMs: number;
  /** Multiplies the retry schedule of events (at once, 60 s, 300 s). Tests use e.g. 0.001. */
  readonly retryFactor: number;
  readonly triggerMs: number;
  readonly streamMs: number;
  readonly responseUrlMs: number;
}

export interface Counters {
  /** Method → calls answered, by what was answered. */
  readonly calls: Readonly<Record<string, MethodCounter>>;
  /** Messages the bot posted more than once with the same channel, thread, text and blocks. */
  readonly duplicates: ReadonlyArray<{ readonly message: Message; readonly copies: number }>;
  readonly events: {
    readonly sent: number;
    readonly acked: number;
    readonly lost: number;
    readonly retried: number;
  };
}

export interface MethodCounter {
  readonly total: number;
  readonly ok: number;
  readonly rateLimited: number;
  /** Calls before the Retry-After of a switched-on `rate_limited` had passed. */
  readonly early: number;
  /** Error code → how often. */
  readonly errors: Readonly<Record<string, number>>;
}

/** One event, interaction or command on its way to the app. */
export interface DeliveryRecord {
  readonly kind: 'event' | 'interactive' | 'command';
  /** `event.type` (and subtype), payload type, or command. */
  readonly name: string;
  readonly eventId?: string;
  readonly attempts: number;
  readonly state: 'pending' | 'acked' | 'lost';
}
