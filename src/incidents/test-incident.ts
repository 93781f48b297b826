import { randomUUID } from 'node:crypto';
import type { Refusal } from '../core/errors.ts';
import type { EventBus } from '../core/event-bus.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import { isEnded } from '../core/machine.ts';
import type { Sql } from '../core/sql.ts';
import type { Steered } from './steering.ts';

const TITLE = 'Test: nothing is wrong. I look, change nothing, and close this by myself.';
/** On record as who closes it: whoever raised it has not. */
const CLOSER = 'Sentry';
/** A test that was never opened, since its process died before, is forgotten after so long. */
const FORGET_MINUTES = 60;
const AT_ONCE = 20;
/** What is left to people: a test that has found something real. */
const THEIRS: readonly Incident['state'][] = ['awaiting_approval', 'remediating', 'verifying', 'stopped'];
const AT_REST: readonly Incident['state'][] = ['reported', 'escalated'];

export interface TestIncidents {
  /** Opens one that whoever raises it has, so that nobody else is called. */
  raise(by: string): Promise<{ readonly ok: true; readonly incidentId: IncidentId } | Refusal>;
  start(bus: EventBus): void;
  stop(): Promise<void>;
}

/**
 * Incidents that show a new workspace the whole way. They close as soon as they have been looked into, also after a crash, and
 * `sentry_is_test` keeps them out of statistics and memory. One that has found something real is left to people.
 */
export function createTestIncidents(deps: {
  readonly sql: Sql;
  readonly open: (request: {
    readonly text: string;
    readonly by: string;
    readonly key: string;
    readonly severity: 'info';
  }) => Promise<{ readonly ok: true; readonly incidentId: IncidentId } | Refusal>;
  readonly take: (id: IncidentId, by: string) => Promise<unknown>;
  readonly close: (id: IncidentId, by: string, reason: string) => Promise<Steered>;
}): TestIncidents {
  const { sql } = deps;
  let end = async (): Promise<void> => undefined;

  async function sweep(): Promise<void> {
    const rows = await sql<{
      readonly key: string;
      readonly id: IncidentId | null;
      readonly state: Incident['state'] | null;
      readonly old: boolean;
    }>`
      SELECT t.delivery_key AS key, i.id, i.state,
             t.raised_at < clock_timestamp() - make_interval(mins => ${FORGET_MINUTES}) AS old
        FROM test_incident t
        LEFT JOIN LATERAL (SELECT incident_id FROM alert WHERE delivery_key = t.delivery_key LIMIT 1) a ON true
        LEFT JOIN LATERAL (SELECT id, state FROM incident WHERE id = a.incident_id LIMIT 1) i ON true
       WHERE NOT t.over ORDER BY t.raised_at LIMIT ${AT_ONCE}`;
    for (const { key, id, state, old } of rows) {
      if (id !== null && state !== null && AT_REST.includes(state))
        await deps.close(id, CLOSER, 'It was a test.');
      if (state !== null && THEIRS.includes(state)) {
        await sql`DELETE FROM test_incident WHERE delivery_key = ${key}`;
        continue;
      }
      const isOver = state !== null && (isEnded(state) || AT_REST.includes(state));
      if (isOver || (id === null && old))
        await sql`UPDATE test_incident SET over = true WHERE delivery_key = ${key}`;
    }
  }

  return {
    async raise(by) {
      const key = `test:${randomUUID()}`;
      await sql`INSERT INTO test_incident (delivery_key, raised_by) VALUES (${`hand:${key}`}, ${by})`;
      const opened = await deps.open({ text: TITLE, by, key, severity: 'info' });
      if (opened.ok) await deps.take(opened.incidentId, by);
      else await sql`DELETE FROM test_incident WHERE delivery_key = ${`hand:${key}`}`;
      return opened;
    },
    start(bus) {
      end = bus.subscribe({ on: { 'incident.changed': 'sweep' }, sweep });
    },
    stop: () => end(),
  };
}
