import type { WebClient } from '@slack/web-api';
import { type Refusal, refuse } from '../../core/errors.ts';
import { codeOf, isUnknownMethod } from '../outbound/web-errors.ts';
import type { Identity } from './identity.ts';

const CACHE_MS = 60_000;

interface Person {
  readonly name: string;
  readonly bot: boolean;
  readonly foreign: boolean;
  readonly guest: boolean;
}

export interface People {
  /** The display name, or the id where Slack does not tell. */
  name(userId: string): Promise<string>;
  /** Whether they see only the channels they were invited to. Rejects when Slack does not tell. */
  isGuest(userId: string): Promise<boolean>;
  /** Refuses bots, strangers and members of other workspaces, and whoever cannot be looked up. */
  mayAct(userId: string, teamId: string | null): Promise<{ readonly ok: true } | Refusal>;
}

/** Who acts, as Slack knows them; answers are kept a minute. */
export function createPeople(client: WebClient, identity: () => Identity): People {
  const cache = new Map<string, { readonly until: number; readonly person: Promise<Person> }>();

  /** Asked for many incidents at once, Slack is asked once. */
  function look(userId: string): Promise<Person> {
    const kept = cache.get(userId);
    if (kept && kept.until > performance.now()) return kept.person;
    const person = ask(userId);
    cache.set(userId, { until: performance.now() + CACHE_MS, person });
    // A failure is not remembered: the next question asks again.
    person.catch(() => cache.delete(userId));
    return person;
  }

  async function ask(userId: string): Promise<Person> {
    const { user } = await client.users.info({ user: userId });
    return {
      name: user?.profile?.display_name || user?.real_name || user?.name || userId,
      bot: user?.is_bot === true || user?.deleted === true,
      foreign:
        (user as { readonly is_stranger?: boolean } | undefined)?.is_stranger === true ||
        (user?.team_id !== undefined && user.team_id !== identity().teamId),
      guest: user?.is_restricted === true || user?.is_ultra_restricted === true,
    };
  }

  return {
    name: (userId) =>
      look(userId).then(
        (person) => person.name,
        () => userId,
      ),
    isGuest: async (userId) => (await look(userId)).guest,
    async mayAct(userId, teamId) {
      const own = identity().teamId;
      if (teamId && own && teamId !== own)
        return refuse('OTHER_WORKSPACE', 'Only members of this workspace can do that.');
      try {
        const person = await look(userId);
        if (person.bot) return refuse('IS_BOT', 'Only people can do that.');
        if (person.foreign) return refuse('OTHER_WORKSPACE', 'Only members of this workspace can do that.');
        return { ok: true };
      } catch (error) {
        // A server without users.info says nothing against anybody; the approver list still decides.
        if (isUnknownMethod(error) || codeOf(error) === 'missing_scope') return { ok: true };
        return refuse('WHO_ARE_YOU', 'I could not check with Slack who you are. Please try again.');
      }
    },
  };
}
