import { cacheAnswers } from '../core/cache-answers.ts';
import { messageOf } from '../core/errors.ts';
import type { Incident } from '../core/incident.ts';
import type { ChannelMessage, ReadChannels } from '../incidents/context/channels.ts';
import { codeOf, failureOf } from '../slack/outbound/web-errors.ts';
import { isOpen, type Sight, sightIn } from '../slack/people/access.ts';
import type { SlackWorkspace } from '../slack/people/slack-workspace.ts';
import { notTold, saidBy, type Written, writtenIn } from './members-words.ts';

/** What was said earlier is over when an alert comes. */
const LATELY_MS = 30 * 60_000;
/** Many incidents at once read a channel once: Slack answers 50 times a minute, and others ask it, too. */
const READ_MS = 30_000;
const LISTED_MS = 60_000;
const MOST_CHANNELS = 10;
/** The newest of a channel, in one page: of the alerts in it many. */
const MOST_MESSAGES = 200;
const MOST_PAGES = 5;
/** So many messages that are about it are taken, the newest, and of so many people it is asked who they are. */
const MOST_FITTING = 20;
const MOST_PEOPLE = 20;

interface Place {
  readonly id: string;
  readonly name: string;
  readonly sight: Sight;
}

interface WrittenThere extends Written {
  readonly ts: string;
  readonly threadTs: string | null;
}

/**
 * What members wrote in the channels that the bot is in: in the incident's own, and elsewhere where everybody of the workspace reads along, if
 * no stranger reads the incident's. Private channels are nobody else's; direct messages are not read.
 */
export function readChannelsOf(
  workspace: Pick<SlackWorkspace, 'client' | 'directory' | 'access' | 'alertChannels' | 'own'>,
): ReadChannels {
  const { client, directory, access, own } = workspace;
  const asked = untilToldToWait();
  const listed = cacheAnswers(() => asked(() => placesOf(client)), LISTED_MS);
  const read = cacheAnswers((channel) => asked(() => newestIn(client, channel, own())), READ_MS);
  return async (incident, isAbout) => {
    const here = await access.channelOf(incident);
    const sight = await access.sightOf(here);
    if (sight === 'unknown') throw new Error('Slack does not tell who would read it');
    const all = await listed('').catch(notTold);
    const isOurs = sight === 'public' || sight === 'private';
    const told = all.filter((one) => one.id === here || (isOurs && isOpen(one.sight)));
    const first = inOrder(told, here, workspace.alertChannels).slice(0, MOST_CHANNELS);
    const answers = await Promise.allSettled(first.map(({ id }) => read(id).catch(notTold)));
    const newestFirst = answers
      .flatMap((answer, at) => {
        const place = first[at];
        if (answer.status === 'rejected' || place === undefined) return [];
        return answer.value
          .filter((one) => !(place.id === here && isOfThread(one, incident)) && isAbout(one.text))
          .map((one) => ({ ...one, channel: place.name }));
      })
      .toSorted((a, b) => Number(b.ts) - Number(a.ts));
    const said: ChannelMessage[] = [];
    const people = new Set<string>();
    for (const { ts, channel, ...written } of newestFirst) {
      if (people.add(written.userId).size > MOST_PEOPLE || said.length === MOST_FITTING) break;
      const one = await saidBy(directory, written);
      if (one !== null) said.unshift({ ...one, channel, at: Number(ts) * 1_000 });
    }
    const failed = answers.flatMap((one) => (one.status === 'rejected' ? [messageOf(one.reason)] : []));
    return {
      said,
      read: first.length,
      unread: told.length - first.length,
      missing: failed.length === 0 ? null : [...new Set(failed)].join('; '),
    };
  };
}

/** Its own first, then where alerts are posted. */
function inOrder(places: readonly Place[], here: string, alertChannels: Iterable<string>): readonly Place[] {
  const alerting = new Set([...alertChannels].map((one) => one.replace(/^#/, '')));
  const rank = ({ id, name }: Place): number => {
    if (id === here) return 0;
    return alerting.has(id) || alerting.has(name) ? 1 : 2;
  };
  return places.toSorted((a, b) => rank(a) - rank(b));
}

/** Another part tells what is said there. */
const isOfThread = ({ ts, threadTs }: WrittenThere, incident: Incident): boolean =>
  incident.threadTs !== null && [ts, threadTs].includes(incident.threadTs);

async function placesOf(client: SlackWorkspace['client']): Promise<readonly Place[]> {
  const places: Place[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await client.users.conversations({
      types: 'public_channel,private_channel',
      exclude_archived: true,
      limit: 200,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const channel of answer.channels ?? [])
      if (channel.id && channel.name && channel.is_im !== true && channel.is_mpim !== true)
        places.push({ id: channel.id, name: channel.name, sight: sightIn(channel) });
    cursor = answer.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) break;
  }
  return places;
}

async function newestIn(
  client: SlackWorkspace['client'],
  channel: string,
  own: ReturnType<SlackWorkspace['own']>,
): Promise<readonly WrittenThere[]> {
  try {
    const oldest = ((Date.now() - LATELY_MS) / 1_000).toFixed(6);
    const { messages = [] } = await client.conversations.history({ channel, oldest, limit: MOST_MESSAGES });
    return messages.flatMap((message) => {
      const written = writtenIn(message, own);
      if (written === null || message.ts === undefined) return [];
      return [{ ...written, ts: message.ts, threadTs: message.thread_ts ?? null }];
    });
  } catch (error) {
    // It was taken out of it meanwhile.
    if (['not_in_channel', 'channel_not_found'].includes(codeOf(error))) return [];
    throw error;
  }
}

/** Slack is not asked again before the time that it said. */
function untilToldToWait(): <T>(ask: () => Promise<T>) => Promise<T> {
  let refusal: { readonly until: number; readonly error: unknown } | undefined;
  return async (ask) => {
    if (refusal && refusal.until > performance.now()) throw refusal.error;
    try {
      return await ask();
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === 'wait') refusal = { until: performance.now() + failure.ms, error };
      throw error;
    }
  };
}
