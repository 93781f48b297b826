import type { Counters, MethodCounter } from './control-api.ts';
import { SENTRY_APP } from './seed.ts';
import type { Message } from './slack-shapes.ts';
import type { Workspace } from './workspace.ts';

interface Counting {
  total: number;
  ok: number;
  rateLimited: number;
  early: number;
  errors: Record<string, number>;
}

/** How often each method was called and what it answered. */
export class CallCounters {
  readonly #methods = new Map<string, Counting>();

  /** `outcome`: "ok", "ratelimited", or an error code. */
  count(method: string, outcome: string): void {
    const counting = this.#of(method);
    counting.total += 1;
    if (outcome === 'ok') counting.ok += 1;
    else if (outcome === 'ratelimited') counting.rateLimited += 1;
    else counting.errors[outcome] = (counting.errors[outcome] ?? 0) + 1;
  }

  /** A call that did not wait as long as the 429 before it asked for. */
  countEarly(method: string): void {
    this.#of(method).early += 1;
  }

  #of(method: string): Counting {
    const counting = this.#methods.get(method) ?? { total: 0, ok: 0, rateLimited: 0, early: 0, errors: {} };
    this.#methods.set(method, counting);
    return counting;
  }

  calls(): Readonly<Record<string, MethodCounter>> {
    return Object.fromEntries(this.#methods);
  }
}

/** Messages that the bot posted more than once: same channel, thread, text and blocks (whatever their ids). */
export function duplicatesIn(workspace: Workspace): Counters['duplicates'] {
  const groups = new Map<string, Message[]>();
  for (const channel of workspace.channels()) {
    for (const message of workspace.messages(channel.id)) {
      if (message.bot_id !== SENTRY_APP.botId) continue;
      const key = JSON.stringify(
        [message.channel, message.thread_ts, message.text, message.blocks],
        withoutIds,
      );
      groups.set(key, [...(groups.get(key) ?? []), message]);
    }
  }
  return [...groups.values()].flatMap((group) => {
    const [message] = group;
    return message === undefined || group.length === 1 ? [] : [{ message, copies: group.length }];
  });
}

function withoutIds(name: string, value: unknown): unknown {
  return name === 'block_id' ? undefined : value;
}
