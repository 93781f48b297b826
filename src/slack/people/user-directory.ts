import type { UsersInfoResponse, WebClient } from '@slack/web-api';
import type { ApproverDirectory } from '../../actions/approvals/ports.ts';
import { cacheAnswers } from '../../core/cache-answers.ts';
import { OpsError, type Refusal, refuse } from '../../core/errors.ts';
import { codeOf, isUnknownMethod } from '../outbound/web-errors.ts';
import type { Identity } from './identity.ts';

/** A change of who is on call, or who somebody is, is seen within this time. */
const CACHE_MS = 60_000;

/** Who people are, and who is in a group or channel, as Slack knows it. */
export interface UserDirectory extends ApproverDirectory {
  /** The display name, or the id where Slack does not tell. */
  name(userId: string): Promise<string>;
  /** Whether they see only the channels they were invited to. Rejects when Slack does not tell. */
  isGuest(userId: string): Promise<boolean>;
  /** Refuses bots, strangers and members of other workspaces, and whoever cannot be looked up. */
  mayAct(userId: string, teamId: string | null): Promise<{ readonly ok: true } | Refusal>;
  /** The id of a user group given by id or handle; throws when Slack does not know it. */
  groupId(group: string): Promise<string>;
}

/** Members that Slack does not tell are an error, never an empty answer. */
export function createUserDirectory(
  client: WebClient,
  identity: () => Identity,
  channelId: (idOrName: string) => Promise<string>,
): UserDirectory {
  // Asked for many incidents at once, Slack is asked once.
  const look = cacheAnswers(async (userId) => {
    const { user } = await client.users.info({ user: userId });
    return {
      name: displayName(user) || userId,
      isBot: user?.is_bot === true || user?.deleted === true,
      isForeign:
        (user as { readonly is_stranger?: boolean } | undefined)?.is_stranger === true ||
        (user?.team_id !== undefined && user.team_id !== identity().teamId),
      isGuest: user?.is_restricted === true || user?.is_ultra_restricted === true,
    };
  }, CACHE_MS);

  const groupId = cacheAnswers(async (group) => {
    const wanted = group.replace(/^@/, '');
    const answer = await client.usergroups.list().catch((error: unknown) => {
      throw unknownMembers(`the group @${wanted}`, error);
    });
    const found = answer.usergroups?.find((each) => each.id === wanted || each.handle === wanted);
    if (!found?.id) throw unknownMembers(`the group @${wanted}`, new Error('no such group'));
    return found.id;
  }, CACHE_MS);

  const groupMembers = cacheAnswers(async (group) => {
    const usergroup = await groupId(group);
    const answer = await client.usergroups.users.list({ usergroup }).catch((error: unknown) => {
      throw unknownMembers(`the group ${group}`, error);
    });
    return answer.users ?? [];
  }, CACHE_MS);

  const channelMembers = cacheAnswers(async (channel) => {
    const members: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.conversations
        .members({ channel: await channelId(channel), limit: 500, ...(cursor ? { cursor } : {}) })
        .catch((error: unknown) => {
          throw unknownMembers(`the channel ${channel}`, error);
        });
      members.push(...(page.members ?? []));
      cursor = page.response_metadata?.next_cursor || undefined;
    } while (cursor);
    return members;
  }, CACHE_MS);

  return {
    groupId,
    groupMembers,
    channelMembers,
    name: (userId) =>
      look(userId).then(
        (person) => person.name,
        () => userId,
      ),
    isGuest: async (userId) => (await look(userId)).isGuest,
    async mayAct(userId, teamId) {
      const own = identity().teamId;
      if (teamId && own && teamId !== own)
        return refuse('OTHER_WORKSPACE', 'Only members of this workspace can do that.');
      try {
        const person = await look(userId);
        if (person.isBot) return refuse('IS_BOT', 'Only people can do that.');
        if (person.isForeign) return refuse('OTHER_WORKSPACE', 'Only members of this workspace can do that.');
        return { ok: true };
      } catch (error) {
        // A server without users.info says nothing against anybody; the approver list still decides.
        if (isUnknownMethod(error) || codeOf(error) === 'missing_scope') return { ok: true };
        return refuse('WHO_ARE_YOU', 'I could not check with Slack who you are. Please try again.');
      }
    },
  };
}

/** What people see of somebody; undefined or empty where Slack does not tell. */
export const displayName = (user: UsersInfoResponse['user']): string | undefined =>
  user?.profile?.display_name || user?.real_name || user?.name;

const unknownMembers = (what: string, cause: unknown): OpsError =>
  new OpsError('SLACK_DIRECTORY', `Slack does not tell who is in ${what}: ${codeOf(cause)}.`, {
    hint: 'Check its name and the scopes usergroups:read and channels:read; user groups need a paid plan.',
    retryable: true,
    cause,
  });
