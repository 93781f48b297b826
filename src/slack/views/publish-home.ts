import { severities } from '../../core/alert.ts';
import { messageOf } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';
import { type Callees, NOBODY_CALLED } from '../../escalation/who-to-call.ts';
import type { SlackContext } from '../context.ts';
import { isUnknownMethod } from '../outbound/web-errors.ts';
import { readableBy } from '../people/access.ts';
import { messageUrl } from '../people/identity.ts';
import { mayWelcome } from '../people/may-set-up.ts';
import { closedHome, type HomePromotions, homeView } from './home.ts';
import type { HomeApproval, HomeFacts, HomeReader } from './home-facts.ts';
import { welcomeBlocks } from './onboarding.ts';

/** Of the newest incidents: those that this person may read are looked at. */
const LOOKED_AT = 200;
/** Of those, what their reads, diagnoses and repairs say is looked at. */
const RECENT = 100;
/** A group on call is named by so many of its members. */
const NAMED = 6;

/** Draws a person's Home: what they may read, and for admins what is theirs. */
export async function publishHome(context: SlackContext, userId: string): Promise<void> {
  const may = await context.directory.mayLook(userId, null);
  const home = may.ok ? await drawn(context, userId) : closedHome(may.reason);
  const view = {
    ...home,
    blocks: [...((await mayWelcome(context, userId)) ? welcomeBlocks() : []), ...home.blocks],
  };
  await context.client.views.publish({ user_id: userId, view }).catch((error: unknown) => {
    if (!isUnknownMethod(error)) throw error;
  });
}

/** What somebody who looks at Home may read of. */
export async function homeReader(context: SlackContext, userId: string): Promise<HomeReader> {
  const newest = await context.deps.records.list({ limit: LOOKED_AT });
  const recent = await readableBy(context, userId, null, newest);
  return {
    userId,
    recent: recent.slice(0, RECENT),
    mayRead: (incident) => context.access.mayRead(userId, incident, null),
  };
}

async function drawn(context: SlackContext, userId: string): Promise<ReturnType<typeof homeView>> {
  const at = new Date().toISOString();
  const [open, reader] = await Promise.all([openFor(context, userId), homeReader(context, userId)]);
  // Those that are open are asked about, too, however old they are.
  const known = new Set(reader.recent.map(({ id }) => id));
  const recent = [...open.filter(({ id }) => !known.has(id)), ...reader.recent];
  // A guest sees the incidents of their channels, and nothing of how Sentry is set up.
  const isMember = (await context.directory.mayAct(userId, null)).ok;
  const facts = isMember
    ? await orNull(context, 'facts', context.deps.home.facts({ ...reader, recent }))
    : null;
  const [holders, cards, onCall, promotions] = await Promise.all([
    namesOf(context, facts?.holders ?? new Map()),
    cardsOf(context, facts?.approvals ?? []),
    facts ? onCallNow(context, facts.onCall) : '',
    facts?.isAdmin ? orNull(context, 'promotions', promotionsOf(context)) : null,
  ]);
  return homeView({
    at,
    status: facts ? await statusOf(context, facts) : isMember ? await context.statusLines() : [],
    open,
    facts,
    onCall,
    promotions,
    holderOf: (id) => holders.get(id) ?? null,
    cardOf: ({ action }) => cards.get(action.planId) ?? null,
    urlOf: (incident) => threadUrl(context, incident),
  });
}

/** A part that cannot be told is left out; the rest of Home is more use than none. */
function orNull<T>({ deps }: SlackContext, what: string, asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    deps.log.warn({ what, error: messageOf(error) }, 'a part of App Home cannot be told');
    return null;
  });
}

/** The worst first, and of those alike the newest. */
async function openFor(context: SlackContext, userId: string): Promise<readonly Incident[]> {
  const open = await context.deps.records.list({ limit: LOOKED_AT, open: true });
  const rank = ({ severity }: Incident): number => severities.indexOf(severity);
  return (await readableBy(context, userId, null, open)).toSorted((a, b) => rank(a) - rank(b));
}

/** That messages arrive, this one shows. */
async function statusOf(context: SlackContext, { state }: HomeFacts): Promise<readonly string[]> {
  const lines = context.modeLines();
  const told = context.outbound.problem() === null ? lines.slice(0, 1) : lines;
  return [...told, ...(await Promise.all(state.map(context.withNames)))];
}

async function namesOf(
  { directory }: SlackContext,
  holders: ReadonlyMap<IncidentId, string>,
): Promise<ReadonlyMap<IncidentId, string>> {
  const named = [...holders].map(
    async ([id, by]) => [id, isSlackUser(by) ? await directory.name(by) : by] as const,
  );
  return new Map(await Promise.all(named));
}

export function threadUrl({ identity }: SlackContext, { channel, threadTs }: Incident): string | null {
  return channel && threadTs ? messageUrl(identity(), channel, threadTs) : null;
}

/** Where the card of each plan stands, by the plan's id. */
async function cardsOf(
  { deps, identity }: SlackContext,
  approvals: readonly HomeApproval[],
): Promise<ReadonlyMap<string, string>> {
  if (approvals.length === 0) return new Map();
  const ids = approvals.map(({ action }) => action.incidentId);
  const rows = await deps.sql<{ readonly slot: string; readonly channel: string; readonly ts: string }>`
    SELECT slot, channel, ts FROM slack_post
     WHERE incident_id = ANY (${deps.sql.array(ids)}::text[]) AND slot LIKE 'action:%' AND ts IS NOT NULL`;
  return new Map(
    rows.map(({ slot, channel, ts }) => [slot.slice('action:'.length), messageUrl(identity(), channel, ts)]),
  );
}

/** By name: nobody is rung by a look at Home. */
async function onCallNow({ directory }: SlackContext, found: Callees | null): Promise<string> {
  if (found === null) return NOBODY_CALLED;
  const members = await Promise.all(
    found.mentions.map(async (id) =>
      isSlackUser(id) ? [id] : await directory.groupMembers(id).catch(() => []),
    ),
  );
  const ids = [...new Set(members.flat())];
  const names = await Promise.all(ids.slice(0, NAMED).map((id) => directory.name(id)));
  const more = ids.length - names.length;
  const all = [...names, ...found.names, ...found.groups.map((group) => `@${group}`)];
  const said = `${all.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return said || found.problem || 'nobody can be told now.';
}

async function promotionsOf({ deps, channels }: SlackContext): Promise<HomePromotions> {
  const { proposalsWaiting } = await deps.memory.summary();
  return {
    waiting: proposalsWaiting,
    channel: await channels.idOf(deps.memory.adminChannel).catch(() => null),
  };
}
