import type { OwnIdentity, SlackMessage } from '../../ports.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Anything the bot itself wrote, in any of the shapes Slack tells of it. */
export function isOwn(event: Fields, own: OwnIdentity): boolean {
  const inner = event['message'];
  const message = typeof inner === 'object' && inner !== null ? (inner as Fields) : event;
  const byBot = own.botId !== null && message['bot_id'] === own.botId;
  const byUser = own.userId !== null && message['user'] === own.userId;
  return byBot || byUser;
}

/**
 * The message, or its edit, when it may be an alert or tell of a change: another app's, at the top level. Never a person's, our own, or a bot's reply
 * in a thread (that is how two bots talk to each other for ever).
 */
export function alertMessageOf(event: Fields, own: OwnIdentity): SlackMessage | null {
  if (isOwn(event, own)) return null;
  if (event['subtype'] === 'message_changed') {
    const message = event['message'] as Fields | undefined;
    const channel = event['channel'];
    if (!message || typeof channel !== 'string') return null;
    const now = alertMessageOf({ ...message, channel }, own);
    // Whole: what it said before, and when it was edited, stand beside it.
    return now && { ...event, channel, ts: now.ts };
  }
  const { channel, ts, thread_ts: thread, subtype } = event as Readonly<Record<string, string | undefined>>;
  const byApp = typeof event['bot_id'] === 'string' || typeof event['app_id'] === 'string';
  const plain = subtype === undefined || subtype === 'bot_message' || subtype === 'file_share';
  const top = thread === undefined || thread === ts;
  return byApp && plain && top && channel && ts ? { ...event, channel, ts } : null;
}
