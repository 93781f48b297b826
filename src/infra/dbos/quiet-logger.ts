import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';

const EVERY_MS = 10_000;
const REMEMBERED = 100;

/**
 * The engine's own chatter is for debugging; its warnings and errors are ours too. While the record is away it looks for work,
 * and fails, some thirty times a second, for as long as that lasts: what it says again is logged once in ten seconds, with how
 * often it was said.
 */
export function quietLogger(log: Log, now: () => number = () => performance.now()) {
  const said = new Map<string, { readonly at: number; again: number }>();

  function say(level: 'warn' | 'error', entry: unknown): void {
    const text = textOf(entry);
    const before = said.get(text);
    if (before !== undefined && now() - before.at < EVERY_MS) {
      before.again += 1;
      return;
    }
    if (said.size >= REMEMBERED) said.clear();
    said.set(text, { at: now(), again: 0 });
    log[level]({ engine: 'dbos', ...(before?.again ? { times: before.again + 1 } : {}) }, text);
  }

  return {
    debug: (entry: unknown) => log.debug({ engine: 'dbos' }, textOf(entry)),
    info: (entry: unknown) => log.debug({ engine: 'dbos' }, textOf(entry)),
    warn: (entry: unknown) => say('warn', entry),
    error: (entry: unknown) => say('error', entry),
  };
}

const textOf = (entry: unknown): string => (typeof entry === 'string' ? entry : messageOf(entry));
