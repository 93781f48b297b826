import type { WebClient } from '@slack/web-api';
import { messageOf } from '../domain/errors.ts';
import type { IncidentId } from '../domain/ids.ts';
import type { Incident } from '../domain/incident.ts';
import type { Log } from '../domain/log.ts';
import type { SlackDirectory } from './directory.ts';
import type { People } from './people.ts';

const CACHE_MS = 60_000;

export interface Access {
  /**
   * Whether a person may read of an incident where its thread is not: everybody of the workspace where that is in a public
   * channel, guests and private channels by membership. Who cannot be told to be a member is none.
   *
   * @param from the channel they ask in: whoever writes in the incident's own is in it, whatever Slack can say of it
   */
  mayRead(userId: string, incident: Pick<Incident, 'id' | 'channel'>, from: string | null): Promise<boolean>;
  /**
   * Whether what was said in one incident's thread may be read in another's, by everybody there: it is the same channel, or
   * a public one. What cannot be told is private.
   */
  mayTell(said: Pick<Incident, 'id' | 'channel'>, to: Pick<Incident, 'id' | 'channel'>): Promise<boolean>;
}

export function createAccess(deps: {
  readonly client: WebClient;
  readonly log: Log;
  readonly directory: Pick<SlackDirectory, 'channelMembers'>;
  readonly people: Pick<People, 'isGuest'>;
  /** Where an incident's thread will begin that has none yet: it may be a private channel too. */
  readonly home: (id: IncidentId) => Promise<string>;
}): Access {
  const cache = new Map<string, { readonly until: number; readonly isPublic: Promise<boolean> }>();

  /** A channel that Slack does not tell about counts as private. */
  function isPublic(channel: string): Promise<boolean> {
    const kept = cache.get(channel);
    if (kept && kept.until > performance.now()) return kept.isPublic;
    const asked = askPublic(channel);
    cache.set(channel, { until: performance.now() + CACHE_MS, isPublic: asked });
    // A failure is not remembered: the next question asks again.
    asked.catch(() => cache.delete(channel));
    return asked;
  }

  async function askPublic(channel: string): Promise<boolean> {
    const { channel: info } = await deps.client.conversations.info({ channel });
    return info?.is_private === false && info.is_im !== true && info.is_mpim !== true;
  }

  const told = async (what: string, ask: () => Promise<boolean>): Promise<boolean> => {
    try {
      return await ask();
    } catch (error) {
      deps.log.warn({ what, error: messageOf(error) }, 'who may read an incident cannot be told');
      return false;
    }
  };

  const channelOf = async ({ id, channel }: Pick<Incident, 'id' | 'channel'>): Promise<string> =>
    channel ?? (await deps.home(id));

  return {
    async mayTell(said, to) {
      return told(said.id, async () => {
        const channel = await channelOf(said);
        return channel === (await channelOf(to)) || isPublic(channel);
      });
    },
    async mayRead(userId, incident, from) {
      const channel = await channelOf(incident);
      if (channel === from) return true;
      const open = await told(
        channel,
        async () => (await isPublic(channel)) && !(await deps.people.isGuest(userId)),
      );
      return (
        open || told(channel, async () => (await deps.directory.channelMembers(channel)).includes(userId))
      );
    },
  };
}

/** Those of them that a person may read of, in their order. */
export async function readableBy(
  { access }: { readonly access: Access },
  userId: string,
  from: string | null,
  incidents: readonly Incident[],
): Promise<readonly Incident[]> {
  const may = await Promise.all(incidents.map((incident) => access.mayRead(userId, incident, from)));
  return incidents.filter((_, at) => may[at]);
}
