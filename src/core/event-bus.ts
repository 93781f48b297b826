import type { IncidentId } from './ids.ts';

/** What is told of, and the id that is told; the notices themselves are sent by triggers (prisma/migrations/…_event_bus). */
interface Topics {
  /** Its row, an event or an action of it. */
  'incident.changed': IncidentId;
  /** A proposal for everybody's memory was made, decided, tried or forgotten; the id of its job. */
  'proposal.changed': string;
  /** A document that everybody shares was written or forgotten. */
  'workspace.changed': string;
  /** A mute began or ended; its id. */
  'mute.changed': string;
  /** What was set up in Slack; the id of its workspace. */
  'settings.changed': string;
  /** A person stopped it: an incident, or `question:` and the id of one. */
  'work.stopped': string;
}

/**
 * Who follows what others write. An event is a hint: it may come twice, late or never, so a subscriber reads the state again
 * and does nothing when nothing has changed.
 */
export interface Subscriber {
  /** Must not throw and must not wait. `sweep` stands for a sweep at once. */
  readonly on: { readonly [T in keyof Topics]?: ((id: Topics[T]) => void) | 'sweep' };
  /** Looks for all that has changed. Runs at once, after each reconnect, now and then; never twice at a time. A fault is tried again. */
  sweep(): Promise<void>;
  /** Sweeps this often while events are heard, ms; 30 s when left out. */
  readonly everyMs?: number;
}

/** Tells subscribers of what any process has committed. */
export interface EventBus {
  /** The answer ends the subscription; it resolves when no sweep runs any more. */
  subscribe(subscriber: Subscriber): () => Promise<void>;
}
