import type { Action } from '../../core/action.ts';
import { messageOf } from '../../core/errors.ts';
import type { EventBus } from '../../core/event-bus.ts';
import type { ActionId, IncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { SlackContext } from '../context.ts';
import { messageUrl } from '../people/identity.ts';
import { formatNotice } from '../views/approval-notice.ts';
import { failureOf } from './web-errors.ts';

/** A card that is posted changes no record: it is looked for this often. */
const EVERY_MS = 3_000;
const AT_ONCE = 200;
/** Who may not approve it is not asked about again sooner: with many people and plans that would be all it does. */
const ASK_AGAIN_MS = 60_000;
/** Slack forgets what a session waits for after about an hour. */
const SESSION_MINUTES = 60;
const SESSIONS = 50;

interface Pair {
  readonly action: ActionId;
  readonly user: string;
}

/**
 * Tells people alone that an approval waits which they may give: those who asked for it, once, with a link to its card; and how it ended. What
 * Slack shows of their conversations about it waits with it.
 */
export function createApprovalNotices(context: SlackContext): {
  start(bus: EventBus): void;
  stop(): Promise<void>;
} {
  /** What was last told by this process, so that Slack is not asked again for what has not changed. */
  const told = new Map<string, string>();
  const shown = new Map<string, boolean>();
  const refused = new Map<string, number>();
  let end = async (): Promise<void> => undefined;
  return {
    start(bus) {
      end = bus.subscribe({
        on: { 'incident.changed': 'sweep' },
        everyMs: EVERY_MS,
        async sweep() {
          await note(context, refused);
          await tellOpen(context, told);
          await showSessions(context, shown);
        },
      });
    },
    stop: () => end(),
  };
}

/** Puts on record whom is to be told of what, before anybody is. */
async function note(context: SlackContext, refused: Map<string, number>): Promise<void> {
  const { sql } = context.deps;
  const due = await sql<Pair>`
    SELECT a.id AS action, p.user_id AS user
      FROM (SELECT user_id FROM person_preference WHERE dm_approvals ORDER BY user_id LIMIT ${AT_ONCE}) p
     CROSS JOIN LATERAL (SELECT id FROM action WHERE state = 'proposed' AND NOT audit_only ORDER BY id LIMIT ${AT_ONCE}) a
     WHERE NOT EXISTS (SELECT FROM approval_notice n WHERE n.action_id = a.id AND n.user_id = p.user_id)`;
  for (const [key, until] of refused) if (until < performance.now()) refused.delete(key);
  for (const { action: id, user } of due) {
    const key = `${id}/${user}`;
    if (refused.has(key)) continue;
    const found = await waiting(context, id, user);
    if (found === null) {
      refused.set(key, performance.now() + ASK_AGAIN_MS);
      continue;
    }
    if ((await cardOf(context, found)) === null) continue;
    await sql`
      INSERT INTO approval_notice (action_id, user_id) VALUES (${id}, ${user}) ON CONFLICT DO NOTHING`;
  }
}

interface Found {
  readonly action: Action;
  readonly incident: Incident;
}

/** The action while it waits for this person, who may read of it too. What cannot be told now is looked at again. */
async function waiting(context: SlackContext, id: ActionId, user: string): Promise<Found | null> {
  const { records, setUp, log } = context.deps;
  const action = await records.action(id);
  const incident = action && (await records.incident(action.incidentId));
  if (!action || !incident || action.state !== 'proposed') return null;
  try {
    const may =
      (await setUp.mayApprove(user, action, incident)) &&
      (await context.access.mayRead(user, incident, null));
    return may ? { action, incident } : null;
  } catch (error) {
    log.warn({ user, error: messageOf(error) }, 'whether an approval waits for somebody cannot be told');
    return null;
  }
}

/** Where its card stands. */
async function cardOf({ deps, identity }: SlackContext, { action, incident }: Found): Promise<string | null> {
  const [card] = await deps.sql<{ readonly channel: string; readonly ts: string }>`
    SELECT channel, ts FROM slack_post
     WHERE incident_id = ${incident.id} AND slot = ${`action:${action.planId}`} AND ts IS NOT NULL`;
  if (!card) return null;
  const thread = incident.threadTs ? `?thread_ts=${incident.threadTs}&cid=${card.channel}` : '';
  return `${messageUrl(identity(), card.channel, card.ts)}${thread}`;
}

async function tellOpen(context: SlackContext, told: Map<string, string>): Promise<void> {
  const { sql, records } = context.deps;
  const open = await sql<Pair>`
    SELECT action_id AS action, user_id AS user FROM approval_notice WHERE NOT ended ORDER BY action_id LIMIT ${AT_ONCE}`;
  for (const { action: id, user } of open) {
    const key = `${id}/${user}`;
    const action = await records.action(id);
    const state = action?.state ?? 'void';
    if (told.get(key) === state) continue;
    await tellOne(context, { id, user, action });
    told.set(key, state);
    if (state === 'proposed') continue;
    await sql`UPDATE approval_notice SET ended = true WHERE action_id = ${id} AND user_id = ${user}`;
    told.delete(key);
  }
}

/** Rejects where Slack cannot be reached: then it is tried again. Somebody who takes no messages is not told. */
async function tellOne(
  context: SlackContext,
  { id, user, action }: { readonly id: ActionId; readonly user: string; readonly action: Action | null },
): Promise<void> {
  const { deps, directory, direct } = context;
  const found = await waiting(context, id, user);
  const url = found && (await cardOf(context, found));
  const incident = action && (await deps.records.incident(action.incidentId));
  const mayRead = incident !== null && (await context.access.mayRead(user, incident, null));
  const slot = formatNotice({
    action: mayRead ? action : null,
    incident: mayRead ? incident : null,
    waitsAt: url,
    decidedBy: action?.decidedBy ? await directory.name(action.decidedBy) : null,
  });
  try {
    // What was over before it was told of needs nobody.
    await direct.tell(user, `approval:${id}`, slot, { edits: found === null });
  } catch (error) {
    if (failureOf(error).kind === 'wait' || isAway(error)) throw error;
    deps.log.warn({ user, error: messageOf(error) }, 'somebody could not be told alone of an approval');
  }
}

const isAway = (error: unknown): boolean =>
  failureOf(error).kind === 'uncertain' && (error as { readonly code?: unknown }).code !== 'SLACK_DIRECT';

/** Conversations about an incident whose approval waits for whoever leads them are shown as waiting, and afterwards not. */
async function showSessions(context: SlackContext, shown: Map<string, boolean>): Promise<void> {
  const recent = await context.deps.sql<{
    readonly channel: string;
    readonly thread: string;
    readonly incident: IncidentId;
    readonly by: string;
    readonly state: string;
    readonly action: ActionId | null;
  }>`
    SELECT DISTINCT ON (q.channel, q.thread_ts) q.channel, q.thread_ts AS thread, q.incident_id AS incident, q.asked_by AS by,
           q.state, a.id AS action
      FROM (SELECT * FROM question
             WHERE direct AND asked_at > statement_timestamp() - make_interval(mins => ${SESSION_MINUTES})
             ORDER BY asked_at DESC LIMIT ${SESSIONS}) q
      LEFT JOIN LATERAL (SELECT id FROM action WHERE incident_id = q.incident_id AND state = 'proposed'
                          ORDER BY proposed_at LIMIT 1) a ON true
     ORDER BY q.channel, q.thread_ts, q.asked_at DESC`;
  for (const { channel, thread, by, state, action } of recent) {
    // An answer that is being written says so itself.
    if (state === 'asked') continue;
    const key = `${channel}/${thread}`;
    const waits = action !== null && (await waiting(context, action, by)) !== null;
    if ((shown.get(key) ?? false) === waits) continue;
    await context.sessions.idle({ channel, threadTs: thread }, waits);
    shown.set(key, waits);
  }
}
