import type { LogBook } from '../api/logs.ts';
import type { Registry } from '../registry/registry.ts';
import type { Store } from '../registry/store.ts';
import type { EventRecorder } from './event-recorder.ts';

/** What the controllers work with. Like the real ones, they know of the world only what the API server keeps. */
export interface ControlPlane {
  readonly store: Store;
  readonly registry: Registry;
  readonly logs: LogBook;
  readonly events: EventRecorder;
  /** Milliseconds of the cluster's own time, which may run faster than ours. */
  now(): number;
  /** Asks for another pass at a time of the cluster. */
  wake(at: number): void;
}

/** Brings what is nearer to what is wanted, a step each time; called again after every change. */
export type Controller = () => void;
