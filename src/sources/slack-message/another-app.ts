import type { ReadContext } from '../ports.ts';
import type { Content } from './schema.ts';

/** Whether another app posted it at the top level. By `bot_id`, not by subtype: modern apps post without one. */
export function isAnotherAppsPost(message: Content, { own }: ReadContext): boolean {
  if (!message.bot_id && !message.app_id && message.subtype !== 'bot_message') return false;
  if (message.thread_ts && message.thread_ts !== message.ts) return false;
  if (own?.botId && message.bot_id === own.botId) return false;
  return !(own?.userId && message.user === own.userId);
}
