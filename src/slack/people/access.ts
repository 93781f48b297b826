import type { WebClient } from '@slack/web-api';
import { cacheAnswers } from '../../core/cache-answers.ts';
import { messageOf } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { Log } from '../../core/log.ts';
import { hideLead } from '../../core/merged-with.ts';
import { within } from '../../core/within.ts';
import type { UserDirectory } from './user-directory.ts';

const CACHE_MS = 60_000;
/** An investigation waits for it: so long for Slack, and not again for a channel that it was late about just now. */
const SIGHT_MS = 500;
const LATE_MS = 2_000;

export interface Access {
  /**
   * Whether a person may read of an incident where its thread is not: everybody of the workspace where that is in a public
   * channel, guests and private channels by membership. Who cannot be told to be a member is none.
   *
   * @param from the channel they ask in: whoever writes in the incident's own is in it, whatever Slack can say of it
   */
  mayRead(userId: string, incident: Pick<Incident, 'id' | 'channel'>, from: string | null): Promise<boolean>;
  /** Where an incident's thread is, or will begin. */
  channelOf(incident: Pick<Incident, 'id' | 'channel'>): Promise<string>;
  /** Who sees a channel, as Slack tells it within half a second. */
  sightOf(channel: string): Promise<Sight>;
  /**
   * Whether what was said in one incident's thread may be read in another's, by everybody there: it is the same channel, or
   * a public one, and no strangers read along. What cannot be told is private.
   */
  mayTell(said: Pick<Incident, 'id' | 'channel'>, to: Pick<Incident, 'id' | 'channel'>): Promise<boolean>;
}

/** `shared`: everybody here, and people of another company; `closed`: members, some of them of another company. */
export type Sight = 'public' | 'shared' | 'private' | 'closed' | 'unknown';

/** As Slack tells of it: what it does not call public is private. */
export function sightIn(
  channel:
    | {
        readonly is_private?: boolean;
        readonly is_im?: boolean;
        readonly is_mpim?: boolean;
        readonly is_ext_shared?: boolean;
        readonly is_pending_ext_shared?: boolean;
      }
    | undefined,
): Sight {
  const open = channel?.is_private === false && channel.is_im !== true && channel.is_mpim !== true;
  const strangers = channel?.is_ext_shared === true || channel?.is_pending_ext_shared === true;
  if (strangers) return open ? 'shared' : 'closed';
  return open ? 'public' : 'private';
}

/** Whether everybody of the workspace sees it; what cannot be told they do not. */
export const isOpen = (sight: Sight): boolean => sight === 'public' || sight === 'shared';

/** Whether people of another company are in it. */
export const hasStrangers = (sight: Sight): boolean => sight === 'shared' || sight === 'closed';

export function createAccess(deps: {
  readonly client: WebClient;
  readonly log: Log;
  readonly directory: Pick<UserDirectory, 'channelMembers' | 'isGuest'>;
  /** Where an incident's thread will begin that has none yet: it may be a private channel too. */
  readonly home: (id: IncidentId) => Promise<string>;
}): Access {
  const late = new Map<string, number>();

  const look = cacheAnswers(
    async (channel): Promise<Sight> => sightIn((await deps.client.conversations.info({ channel })).channel),
    CACHE_MS,
  );

  const isPublic = async (channel: string): Promise<boolean> => isOpen(await look(channel));

  const told = async (what: string, ask: () => Promise<boolean>): Promise<boolean> => {
    try {
      return await ask();
    } catch (error) {
      deps.log.warn({ what, error: messageOf(error) }, 'who may read an incident cannot be told');
      return false;
    }
  };

  const channelOf: Access['channelOf'] = async ({ id, channel }) => channel ?? deps.home(id);

  return {
    channelOf,
    async sightOf(channel) {
      const isLate = (late.get(channel) ?? 0) > performance.now();
      try {
        return await within(isLate ? 0 : SIGHT_MS, look(channel));
      } catch (error) {
        if (!isLate) late.set(channel, performance.now() + LATE_MS);
        deps.log.warn({ channel, error: messageOf(error) }, 'who sees a channel cannot be told');
        return 'unknown';
      }
    },
    async mayTell(said, to) {
      return told(said.id, async () => {
        const [from, here] = [await channelOf(said), await channelOf(to)];
        // In a channel shared with another company strangers read along.
        return from === here || (['public', 'private'].includes(await look(here)) && (await isPublic(from)));
      });
    },
    async mayRead(userId, incident, from) {
      const channel = await channelOf(incident);
      if (channel === from) return true;
      const open = await told(
        channel,
        async () => (await isPublic(channel)) && !(await deps.directory.isGuest(userId)),
      );
      return (
        open || told(channel, async () => (await deps.directory.channelMembers(channel)).includes(userId))
      );
    },
  };
}

/** Those of them that a person may read of, in their order, with the names of those among them alone. */
export async function readableBy(
  { access }: { readonly access: Access },
  userId: string,
  from: string | null,
  incidents: readonly Incident[],
): Promise<readonly Incident[]> {
  const may = await Promise.all(incidents.map((incident) => access.mayRead(userId, incident, from)));
  return hideLeads(incidents.filter((_, at) => may[at]));
}

/** What an incident of a list is a part of is named where it stands in the list itself. */
export function hideLeads(incidents: readonly Incident[]): readonly Incident[] {
  const ids = new Set(incidents.map(({ id }) => id));
  return incidents.map((incident) => hideLead(incident, (lead) => ids.has(lead)));
}
