import type { Arguments } from './arguments.ts';
import type { Timing } from './control-api.ts';
import type { Events } from './events.ts';
import type { ResponseUrls } from './response-urls.ts';
import type { InstalledApp } from './seed.ts';
import type { Channel, Message } from './slack-shapes.ts';
import type { SocketMode } from './socket-mode.ts';
import type { Triggers } from './triggers.ts';
import type { Workspace } from './workspace.ts';

/** What methods and user actions work with; made once by `createLocalSlack`. */
export interface SlackContext {
  readonly workspace: Workspace;
  readonly events: Events;
  readonly triggers: Triggers;
  readonly responseUrls: ResponseUrls;
  readonly sockets: SocketMode;
  /** Live: the control API changes it. */
  readonly timing: () => Timing;
  /** `http://127.0.0.1:<port>`, known once listening. */
  readonly baseUrl: () => string;
}

/** One call of a Web API method by an app. */
export interface MethodCall {
  readonly slack: SlackContext;
  readonly app: InstalledApp;
  readonly args: Arguments;
}

/** The channel that an argument names. */
export function channelOf(call: MethodCall, name = 'channel'): Channel {
  return call.slack.workspace.channel(call.args.required(name, 'channel_not_found'));
}

/** The message that `channel` and another argument name. */
export function messageOf(call: MethodCall, name = 'ts'): Message {
  const channel = channelOf(call);
  return call.slack.workspace.message(channel.id, call.args.required(name, 'message_not_found'));
}

/** Returns the answer without `ok`; refuses by throwing `SlackError`. */
export type Method = (call: MethodCall) => Record<string, unknown>;
