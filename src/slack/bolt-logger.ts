import { type Logger, LogLevel } from '@slack/bolt';
import type { Log } from '../core/log.ts';

/** Slack's libraries write to our log. Their `info` is our `debug`: none of it is news to an operator. */
export function boltLogger(log: Log): Logger {
  const say = (args: readonly unknown[]): string => args.map(String).join(' ');
  const from = { from: 'slack' };
  return {
    debug: () => undefined,
    info: (...args: unknown[]) => log.debug(from, say(args)),
    warn: (...args: unknown[]) => log.debug(from, say(args)),
    error: (...args: unknown[]) => log.warn(from, say(args)),
    setLevel: () => undefined,
    getLevel: () => LogLevel.INFO,
    setName: () => undefined,
  };
}
