import type { WebClient } from '@slack/web-api';
import type { ApproverDirectory } from '../../actions/approvals/ports.ts';
import { OpsError } from '../../core/errors.ts';
import { codeOf } from '../outbound/web-errors.ts';

/** A change of who is on call is seen within this time. */
const CACHE_MS = 60_000;

export interface SlackDirectory extends ApproverDirectory {
  /** The id of a user group given by id or handle; throws when Slack does not know it. */
  groupId(group: string): Promise<string>;
}

/** Who is in a group or channel, from Slack. Not to be able to know is an error, never an empty answer. */
export function createDirectory(
  client: WebClient,
  channelId: (idOrName: string) => Promise<string>,
  now: () => number = () => performance.now(),
): SlackDirectory {
  const cache = new Map<string, { readonly until: number; readonly value: Promise<unknown> }>();

  function cached<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const kept = cache.get(key);
    if (kept && kept.until > now()) return kept.value as Promise<T>;
    const value = ask();
    cache.set(key, { until: now() + CACHE_MS, value });
    // A failure is not remembered: the next click asks again.
    value.catch(() => cache.delete(key));
    return value;
  }

  const unknown = (what: string, cause: unknown): OpsError =>
    new OpsError('SLACK_DIRECTORY', `Slack does not tell who is in ${what}: ${codeOf(cause)}.`, {
      hint: 'Check its name and the scopes usergroups:read and channels:read; user groups need a paid plan.',
      retryable: true,
      cause,
    });

  const groupId = (group: string): Promise<string> =>
    cached(`id ${group}`, async () => {
      const wanted = group.replace(/^@/, '');
      const answer = await client.usergroups.list().catch((error: unknown) => {
        throw unknown(`the group @${wanted}`, error);
      });
      const found = answer.usergroups?.find((each) => each.id === wanted || each.handle === wanted);
      if (!found?.id) throw unknown(`the group @${wanted}`, new Error('no such group'));
      return found.id;
    });

  return {
    groupId,
    groupMembers: (group) =>
      cached(`group ${group}`, async () => {
        const usergroup = await groupId(group);
        const answer = await client.usergroups.users.list({ usergroup }).catch((error: unknown) => {
          throw unknown(`the group ${group}`, error);
        });
        return answer.users ?? [];
      }),
    channelMembers: (channel) =>
      cached(`channel ${channel}`, async () => {
        const members: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await client.conversations
            .members({ channel: await channelId(channel), limit: 500, ...(cursor ? { cursor } : {}) })
            .catch((error: unknown) => {
              throw unknown(`the channel ${channel}`, error);
            });
          members.push(...(page.members ?? []));
          cursor = page.response_metadata?.next_cursor || undefined;
        } while (cursor);
        return members;
      }),
  };
}
