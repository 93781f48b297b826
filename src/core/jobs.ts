import type { IncidentId } from './ids.ts';

/**
 * The queue of durable turns, as the rest of the code sees it. In SQL the same is `sentry_enqueue_turn(incident, reason,
 * delay_ms)`, so that a row and its turn land in one statement or not at all.
 */
export interface Jobs {
  /** Asks for one turn of the incident, now or after a delay; several asks may be answered by one turn's work. */
  enqueueTurn(incidentId: IncidentId, reason: string, options?: { readonly delayMs?: number }): Promise<void>;
}
