import { messageOf } from '../core/errors.ts';
import type { EventBus } from '../core/event-bus.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Sql } from '../core/sql.ts';
import type { SlackContext } from './context.ts';
import { sharedPace } from './outbound/shared-pace.ts';
import { readableBy } from './people/access.ts';
import { publishHome } from './views/publish-home.ts';

/** Slack does not tell when somebody turns away from Home. */
const OPEN_MINUTES = 10;
/** A person's Home is looked at, and so drawn, once in so long. */
const GAP_SECONDS = 30;
const EVERY_MS = 5_000;
/** Of all processes together: Slack takes about 100 a minute. */
const PACE = { perSecond: 1, burst: 5 };
/** Of the changed ones, the newest are looked through for one that this person may read. */
const CHANGED = 50;

/** They look at Home now: it is drawn again when an incident changes that they may read. */
export async function homeOpened(sql: Sql, userId: string): Promise<void> {
  await sql`
    INSERT INTO slack_home (user_id, opened_at, looked_at) VALUES (${userId}, clock_timestamp(), clock_timestamp())
    ON CONFLICT (user_id) DO UPDATE SET opened_at = EXCLUDED.opened_at, looked_at = EXCLUDED.looked_at`;
}

/** Draws the Homes that people have open again as incidents change. Whichever process looks first does it. Returns how to end it. */
export function keepHomes(context: SlackContext, bus: EventBus, everyMs = EVERY_MS): () => Promise<void> {
  const { deps } = context;
  const pace = sharedPace(deps.sql)('homes', PACE);
  const stopping = new AbortController();
  const unsubscribe = bus.subscribe({
    on: {},
    everyMs,
    async sweep() {
      while (!stopping.signal.aborted && (await isAnyDue(deps.sql))) {
        if (!(await pace.take(0)).isTaken) return;
        const due = await takeDue(deps.sql);
        if (due === null) return;
        await drawIfChanged(context, due).catch((error: unknown) =>
          deps.log.warn({ error: messageOf(error) }, 'an open Home could not be drawn again'),
        );
      }
    },
  });
  return async () => {
    stopping.abort();
    await unsubscribe();
  };
}

interface Due {
  readonly userId: string;
  /** When it was last looked at, to the microsecond. */
  readonly since: string;
}

async function isAnyDue(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ readonly due: boolean }>`
    SELECT EXISTS (SELECT FROM slack_home
                    WHERE opened_at > statement_timestamp() - ${OPEN_MINUTES} * interval '1 minute'
                      AND looked_at < statement_timestamp() - ${GAP_SECONDS} * interval '1 second') AS due`;
  return row?.due === true;
}

/** Marked as looked at before anything is read: what changes meanwhile is found by the next look. */
async function takeDue(sql: Sql): Promise<Due | null> {
  const [row] = await sql<Due>`
    WITH due AS (
      SELECT user_id, looked_at FROM slack_home
       WHERE opened_at > statement_timestamp() - ${OPEN_MINUTES} * interval '1 minute'
         AND looked_at < statement_timestamp() - ${GAP_SECONDS} * interval '1 second'
       ORDER BY looked_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    UPDATE slack_home h SET looked_at = clock_timestamp() FROM due WHERE h.user_id = due.user_id
    RETURNING h.user_id AS "userId", due.looked_at::text AS since`;
  return row ?? null;
}

async function drawIfChanged(context: SlackContext, { userId, since }: Due): Promise<void> {
  const { sql, records } = context.deps;
  const changed = await sql<{ readonly id: IncidentId }>`
    SELECT id FROM incident WHERE updated_at > ${since}::timestamptz ORDER BY updated_at DESC LIMIT ${CHANGED}`;
  if (changed.length === 0) return;
  const incidents = await records.incidents(changed.map(({ id }) => id));
  const readable = await readableBy(context, userId, null, incidents);
  if (readable.length > 0) await publishHome(context, userId);
}
