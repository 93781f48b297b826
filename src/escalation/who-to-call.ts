import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { within } from '../core/within.ts';
import type { Mention } from './escalation-config.ts';
import type { OnCallPerson, OnCallSchedule, SlackAccounts } from './ports.ts';

/** Who can be mentioned, and who is on call without an account in Slack. */
export interface Callees {
  /** Slack ids of people and user groups. */
  readonly mentions: readonly string[];
  readonly names: readonly string[];
  /** Handles of groups that Slack does not tell now: while it is away, the mention waits with the message. */
  readonly groups: readonly string[];
  /** What could not be told, a sentence; null: nothing. */
  readonly problem: string | null;
}

export interface CalleeDeps {
  readonly slack: SlackAccounts;
  readonly schedules: ReadonlyMap<string, OnCallSchedule>;
  /** Called where nobody else can be found. */
  readonly fallback: readonly Mention[];
  readonly log: Log;
}

/** The one way to say who is on call, for whoever reads it: who may do it stands there too. */
export const NOBODY_CALLED =
  'Nobody is called: an admin says who is on call with /sentry settings, which also names the admins.';

/** Nobody waits longer for a service that tells who is on call. */
export const ANSWER_MS = 10_000;
/** As many as a level of sentry.yaml may name. */
const MOST_MENTIONED = 20;
/** An answer counts for so long, and so does that there is none: many calls at once ask, and wait, once. */
const REMEMBERED_MS = 30_000;

/** Who is on call by now. Never throws: whoever cannot be told is left out, and the others are called. */
export type WhoToCall = (mentions: readonly Mention[]) => Promise<Callees>;

export function createWhoToCall(deps: CalleeDeps): WhoToCall {
  const remembered = new Map<string, { readonly callees: Promise<Callees>; readonly until: number }>();

  function ask(mentions: readonly Mention[]): Promise<Callees> {
    const key = JSON.stringify(mentions);
    const known = remembered.get(key);
    if (known && known.until > performance.now()) return known.callees;
    const callees = calleesOf(deps, mentions);
    remembered.set(key, { callees, until: performance.now() + REMEMBERED_MS });
    return callees;
  }

  return async (mentions) => {
    const found = await ask(mentions);
    if (found.mentions.length + found.groups.length > 0 || mentions.length === 0) return found;
    // Rather somebody than nobody.
    const instead = await ask(deps.fallback);
    const { mentions: others, groups } = instead;
    return { ...found, mentions: others, groups, problem: found.problem ?? instead.problem };
  };
}

async function calleesOf(deps: CalleeDeps, mentions: readonly Mention[]): Promise<Callees> {
  const each = await Promise.all(mentions.map((mention) => calleeOf(deps, mention)));
  const all = [
    [...new Set(each.flatMap((one) => one.mentions))],
    [...new Set(each.flatMap(({ names }) => names))],
    [...new Set(each.flatMap(({ groups }) => groups))],
  ] as const;
  const [found = [], names = [], groups = []] = all.map((some) => some.slice(0, MOST_MENTIONED));
  const left = all.flatMap((some) => some.slice(MOST_MENTIONED)).length;
  const problems = [
    ...(left > 0 ? [`${left} more are on call than one message calls: ${MOST_MENTIONED} at most.`] : []),
    ...each.flatMap(({ problem }) => problem ?? []),
  ];
  return { mentions: found, names, groups, problem: problems.length > 0 ? problems.join(' ') : null };
}

async function calleeOf(deps: CalleeDeps, mention: Mention): Promise<Callees> {
  try {
    return await within(ANSWER_MS, resolve(deps, mention));
  } catch (error) {
    const name = mention.kind === 'user' ? mention.id : mention.name;
    deps.log.warn({ [mention.kind]: name, error: messageOf(error) }, 'cannot tell whom to call');
    if (mention.kind === 'group') return { mentions: [], names: [], groups: [mention.name], problem: null };
    const what = mention.kind === 'schedule' ? `the schedule ${name}` : `@${name}`;
    return { mentions: [], names: [], groups: [], problem: `I could not tell who is on call by ${what}.` };
  }
}

async function resolve(deps: CalleeDeps, mention: Mention): Promise<Callees> {
  if (mention.kind === 'user') return one(mention.id);
  if (mention.kind === 'group') return one(await deps.slack.groupId(mention.name));
  const schedule = deps.schedules.get(mention.name);
  if (!schedule) throw new Error(`there is no schedule ${mention.name}`);
  const people = await schedule.onCall(new Date(), AbortSignal.timeout(ANSWER_MS));
  if (people.length === 0)
    return {
      mentions: [],
      names: [],
      groups: [],
      problem: `Nobody is on call by the schedule ${mention.name}.`,
    };
  const found = await Promise.all(people.map((person) => accountOf(deps, person)));
  return {
    mentions: found.flatMap((id) => id ?? []),
    names: people.filter((_, at) => found[at] === null).map(({ name }) => name),
    groups: [],
    problem: null,
  };
}

const one = (id: string): Callees => ({ mentions: [id], names: [], groups: [], problem: null });

/** Without an account in Slack they are named, and their pager finds them. */
export async function accountOf(
  { slack, log }: Pick<CalleeDeps, 'slack' | 'log'>,
  { slackUser, email, name }: OnCallPerson,
): Promise<string | null> {
  if (slackUser !== null || email === null) return slackUser;
  return slack.userByEmail(email).catch((error: unknown) => {
    log.warn({ person: name, error: messageOf(error) }, 'cannot look an account up by its address');
    return null;
  });
}
