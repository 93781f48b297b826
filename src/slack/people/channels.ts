import type { WebClient } from '@slack/web-api';
import { cacheAnswers } from '../../core/cache-answers.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';

const ID = /^[CGD][A-Z0-9]{5,}$/;
const RETRY_MS = 60_000;

export interface Channels {
  /** The id of a channel given by id or name; a name nobody knows is given back as `#name`, which Slack takes for posting. */
  idOf(idOrName: string): Promise<string>;
  nameOf(id: string): string | null;
  /** Its name is known to its members only. */
  isPrivate(id: string): boolean;
  /** Whether a channel is one of those named by id or name, also where the list of channels cannot be read. */
  isAmong(id: string, idsOrNames: readonly string[]): Promise<boolean>;
}

/** Channel names to ids, asked once and again at most every minute while one is missing. */
export function createChannels(client: WebClient, log: Log): Channels {
  let ids = new Map<string, string>();
  let closed = new Set<string>();
  let askedAt = Number.NEGATIVE_INFINITY;
  // Every alert asks again; Slack answers 50 times a minute.
  const askedName = cacheAnswers(
    async (id) => (await client.conversations.info({ channel: id })).channel?.name ?? null,
    RETRY_MS,
  );

  async function ask(): Promise<void> {
    askedAt = performance.now();
    const found = new Map<string, string>();
    const shut = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await client.conversations.list({
        types: 'public_channel,private_channel',
        exclude_archived: true,
        limit: 500,
        ...(cursor ? { cursor } : {}),
      });
      for (const { id, name, is_private: isPrivate } of page.channels ?? []) {
        if (id && name) found.set(name, id);
        if (id && isPrivate) shut.add(id);
      }
      cursor = page.response_metadata?.next_cursor || undefined;
    } while (cursor);
    ids = found;
    closed = shut;
  }

  async function idOf(idOrName: string): Promise<string> {
    if (ID.test(idOrName)) return idOrName;
    const name = idOrName.replace(/^#/, '');
    if (!ids.has(name) && performance.now() - askedAt > RETRY_MS)
      await ask().catch((error: unknown) =>
        log.warn({ error: messageOf(error) }, 'the list of channels cannot be read; using names'),
      );
    return ids.get(name) ?? `#${name}`;
  }

  return {
    idOf,
    nameOf: (id) => [...ids].find(([, each]) => each === id)?.[0] ?? null,
    isPrivate: (id) => closed.has(id),
    async isAmong(id, idsOrNames) {
      const wanted = await Promise.all(idsOrNames.map(idOf));
      if (wanted.includes(id)) return true;
      if (!wanted.some((each) => each.startsWith('#'))) return false;
      const name = await askedName(id);
      if (name === null || !wanted.includes(`#${name}`)) return false;
      ids.set(name, id);
      return true;
    },
  };
}
