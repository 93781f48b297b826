import type { UsersInfoResponse, WebClient } from '@slack/web-api';
import type { ApproverDirectory } from '../../actions/approvals/ports.ts';
import { cacheAnswers } from '../../core/cache-answers.ts';
import { OpsError, type Refusal, refuse } from '../../core/errors.ts';
import { formatGroup, isGroupId } from '../../core/principal.ts';
import { codeOf, isUnknownMethod } from '../outbound/web-errors.ts';
import type { Identity } from './identity.ts';

/** A change of who is on call, or who somebody is, is seen within this time. */
const CACHE_MS = 60_000;

/** Who people are, and who is in a group or channel, as Slack knows it. */
export interface UserDirectory extends ApproverDirectory {
  /** The display name, or the id where Slack does not tell. */
  name(userId: string): Promise<string>;
  /** Whether they see only the channels they were invited to, as people of another company do. Rejects when Slack does not tell. */
  isGuest(userId: string): Promise<boolean>;
  /** As `mayAct`, and guests too: for what only answers with what the place they ask in may read. */
  mayLook(userId: string, teamId: string | null): Promise<{ readonly ok: true } | Refusal>;
  /**
   * Whether they own or administer this very workspace, as Slack says at this moment: who may say who decides, while nobody is named.
   * What Slack leaves out is a no.
   */
  runsWorkspace(userId: string, teamId: string | null): Promise<{ readonly ok: true } | Refusal>;
  asOfNow(): UserDirectory;
  /** The handles of the user groups there are; empty where the plan has none. Throws when Slack does not tell. */
  groupHandles(): Promise<readonly string[]>;
  /** The handle of a user group given by id or handle, without its @; where Slack does not tell, what is no id, else `a group`. */
  groupName(group: string): Promise<string>;
  /** The id of a user group given by id or handle; throws when Slack does not know it. */
  groupId(group: string): Promise<string>;
  /** The id of the member with this address; null: there is none. */
  userByEmail(email: string): Promise<string | null>;
}

/** Members that Slack does not tell are an error, never an empty answer. */
export function createUserDirectory(
  client: WebClient,
  identity: () => Identity,
  channelId: (idOrName: string) => Promise<string>,
): UserDirectory {
  return directoryFor({ client, identity, channelId }, CACHE_MS);
}

interface Deps {
  readonly client: WebClient;
  readonly identity: () => Identity;
  readonly channelId: (idOrName: string) => Promise<string>;
}

function directoryFor(deps: Deps, cacheMs: number): UserDirectory {
  const { client, identity, channelId } = deps;
  // Asked for many incidents at once, Slack is asked once.
  const look = cacheAnswers(async (userId) => {
    const { user } = await client.users.info({ user: userId });
    if (!user) throw new OpsError('SLACK_DIRECTORY', `Slack does not tell who ${userId} is.`, whoHint);
    return personOf(user);
  }, cacheMs);

  const findGroup = cacheAnswers(async (group) => {
    const wanted = group.replace(/^@/, '');
    const named = formatGroup(wanted);
    const answer = await client.usergroups.list().catch((error: unknown) => {
      throw unknownMembers(`the group ${named}`, error);
    });
    const found = answer.usergroups?.find((each) => each.id === wanted || each.handle === wanted);
    if (!found?.id) throw unknownMembers(`the group ${named}`, new Error('no such group'));
    return { id: found.id, handle: found.handle };
  }, cacheMs);
  const groupId = async (group: string): Promise<string> => (await findGroup(group)).id;

  const groupMembers = cacheAnswers(async (group) => {
    const usergroup = await groupId(group);
    const answer = await client.usergroups.users.list({ usergroup }).catch((error: unknown) => {
      throw unknownMembers(`the group ${formatGroup(group)}`, error);
    });
    return answer.users ?? [];
  }, cacheMs);

  const channelMembers = cacheAnswers(async (channel) => {
    const members: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.conversations
        .members({ channel: await channelId(channel), limit: 500, ...(cursor ? { cursor } : {}) })
        .catch((error: unknown) => {
          throw unknownMembers(`the channel <#${channel}>`, error);
        });
      members.push(...(page.members ?? []));
      cursor = page.response_metadata?.next_cursor || undefined;
    } while (cursor);
    return members;
  }, cacheMs);

  const userByEmail = cacheAnswers(async (email) => {
    const answer = await client.users.lookupByEmail({ email }).catch((error: unknown) => {
      if (codeOf(error) === 'users_not_found') return null;
      throw new OpsError('SLACK_DIRECTORY', `Slack does not tell who is ${email}: ${codeOf(error)}.`, {
        hint: 'Install the app again with the scopes of manifest.yml (users:read.email).',
        retryable: true,
        cause: error,
      });
    });
    const user = answer?.user;
    // Nobody else's bot, and nobody who has left.
    return user?.id && personOf(user).isHuman ? user.id : null;
  }, cacheMs);

  async function mayLook(
    userId: string,
    teamId: string | null,
  ): Promise<{ readonly ok: true; readonly isGuest: boolean } | Refusal> {
    const own = identity();
    // Of another workspace: of the same organisation at most.
    if (teamId !== null && teamId !== own.teamId && own.enterpriseId === null) return otherWorkspace;
    try {
      const person = await look(userId);
      if (!person.isHuman) return refuse('IS_BOT', 'Only people can do that.');
      return isOurs(person, own) ? { ok: true, isGuest: person.isGuest } : otherWorkspace;
    } catch (error) {
      return refuse(
        'WHO_ARE_YOU',
        `I could not check with Slack who you are (${codeOf(error)}). ${triesNext(error)}`,
      );
    }
  }

  return {
    groupId,
    groupName: (group) => {
      const bare = group.replace(/^@/, '');
      const otherwise = isGroupId(bare) ? 'a group' : bare;
      return findGroup(group).then(
        ({ handle }) => handle || otherwise,
        () => otherwise,
      );
    },
    userByEmail,
    groupMembers,
    channelMembers,
    name: (userId) =>
      look(userId).then(
        (person) => person.name || userId,
        () => userId,
      ),
    isGuest: async (userId) => {
      const person = await look(userId);
      return person.isGuest || !isOurs(person, identity());
    },
    mayLook,
    async runsWorkspace(userId, teamId) {
      const own = identity();
      // Admins of another workspace of the organisation are none of this one.
      if (teamId !== null && teamId !== own.teamId) return otherWorkspace;
      const asked = directoryFor(deps, Number.POSITIVE_INFINITY);
      const may = await asked.mayAct(userId, teamId);
      if (!may.ok) return may;
      const { user } = await client.users.info({ user: userId });
      return user !== undefined &&
        user.team_id === own.teamId &&
        (user.is_admin === true || user.is_owner === true)
        ? { ok: true }
        : refuse(
            'NOT_WORKSPACE_ADMIN',
            'Until admins are set, only an owner or admin of this Slack workspace sets me up. Ask one to type /sentry settings.',
          );
    },
    async groupHandles() {
      try {
        const { usergroups = [] } = await client.usergroups.list();
        return usergroups.flatMap(({ handle }) => handle ?? []);
      } catch (error) {
        if (isUnknownMethod(error)) return [];
        throw error;
      }
    },
    async mayAct(userId, teamId) {
      const may = await mayLook(userId, teamId);
      return may.ok && may.isGuest ? refuse('IS_GUEST', 'Guests cannot do that; members can.') : may;
    },
    asOfNow: () => directoryFor(deps, Number.POSITIVE_INFINITY),
  };
}

/** Somebody as `users.info` tells of them. */
interface Person {
  readonly name: string;
  readonly isHuman: boolean;
  readonly isGuest: boolean;
  readonly isStranger: boolean;
  readonly teamId: string | undefined;
  readonly enterpriseId: string | undefined;
}

/** Where Slack leaves a field out the answer is *not of ours*: a full member has all of them. */
function personOf(user: NonNullable<UsersInfoResponse['user']>): Person {
  // Not all that Slack documents of a user is in the library's type.
  const more: Readonly<Record<string, unknown>> = { ...user };
  const isTrue = (field: string): boolean => more[field] === true;
  return {
    name: displayName(user) ?? '',
    isHuman:
      !['is_bot', 'is_workflow_bot', 'is_connector_bot', 'deleted'].some(isTrue) && user.id !== 'USLACKBOT',
    isGuest: ['is_restricted', 'is_ultra_restricted', 'is_invited_user'].some(isTrue),
    isStranger: isTrue('is_stranger'),
    teamId: user.team_id,
    enterpriseId: user.enterprise_user?.enterprise_id,
  };
}

/** Of this workspace, or of another of the same organisation (Enterprise Grid). */
function isOurs({ isStranger, teamId, enterpriseId }: Person, own: Identity): boolean {
  if (isStranger) return false;
  return (
    (own.teamId !== '' && teamId === own.teamId) ||
    (own.enterpriseId !== null && enterpriseId === own.enterpriseId)
  );
}

const otherWorkspace = refuse(
  'OTHER_WORKSPACE',
  'Only members of this workspace or its organisation can do that.',
);

const whoHint = {
  hint: 'Install the app again with the scopes of manifest.yml (users:read).',
  retryable: true,
};

const triesNext = (error: unknown): string =>
  isUnknownMethod(error) || codeOf(error) === 'missing_scope' ? whoHint.hint : 'Please try again.';

/** What people see of somebody; undefined or empty where Slack does not tell. */
export const displayName = (user: UsersInfoResponse['user']): string | undefined =>
  user?.profile?.display_name || user?.real_name || user?.name;

const unknownMembers = (what: string, cause: unknown): OpsError =>
  new OpsError('SLACK_DIRECTORY', `Slack does not tell who is in ${what}: ${codeOf(cause)}.`, {
    hint: 'Check its name and the scopes usergroups:read and channels:read; user groups need a paid plan.',
    retryable: true,
    cause,
  });
