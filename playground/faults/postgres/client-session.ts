import postgres, { type Sql } from 'postgres';
import type { HeldFault } from '../fault.ts';

/** One connection of an application of the shop. It is not opened again when somebody ends it. */
export function clientSession(url: string, application: string): Sql {
  return postgres(url, {
    max: 1,
    prepare: false,
    fetch_types: false,
    connect_timeout: 5,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => undefined,
    connection: { application_name: application },
  });
}

/** Sends a statement and lets it run; that it fails, because somebody ends or cancels it, is what it is there for. */
export function leaveRunning(session: Sql, statement: string): void {
  session.unsafe(statement).then(
    () => undefined,
    () => undefined,
  );
}

/** Closes sockets at once; PostgreSQL rolls back what was open. */
export async function endSessions(sessions: readonly Sql[]): Promise<void> {
  await Promise.all(sessions.map((session) => session.end({ timeout: 0 })));
}

/** Holds these sessions open once `work` has brought them where they should be; ends them when it cannot. */
export async function holding(sessions: readonly Sql[], work: () => Promise<void>): Promise<HeldFault> {
  const held = { release: () => endSessions(sessions) };
  try {
    await work();
    return held;
  } catch (error) {
    await held.release();
    throw error;
  }
}

/** How many of the shop's own sessions of this application are in a state. */
export async function countSessions(
  admin: Sql,
  application: string,
  condition: 'waiting' | 'idle in transaction' | 'active',
): Promise<number> {
  const [row] = await admin<{ n: number }[]>`
    SELECT count(*)::int AS n FROM pg_stat_activity
     WHERE application_name = ${application}
       AND CASE WHEN ${condition} = 'waiting' THEN wait_event_type = 'Lock' ELSE state = ${condition} END`;
  return row?.n ?? 0;
}
