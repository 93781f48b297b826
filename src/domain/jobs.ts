import type { IncidentId } from './ids.ts';

/** The queue of durable turns, as the rest of the code sees it. */
export interface Jobs {
  /** Asks for one turn of the incident, now or after a delay; several asks may be answered by one turn's work. */
  enqueueTurn(incidentId: IncidentId, reason: string, options?: { readonly delayMs?: number }): Promise<void>;
}

/**
 * SQL that enqueues a turn inside the caller's own statement, so that a row and its turn land together or not at all.
 * Called as `sentry_enqueue_turn(incident_id, reason, delay_ms)`; defined in the first migration over the engine's function.
 */
export const ENQUEUE_TURN_SQL = 'sentry_enqueue_turn';
