import type { Json } from './tool-call.ts';

/** Something that a watched target told by itself. */
export interface Sighting {
  /** Where to go on after it. */
  readonly position: string;
  /** For the alert source of this name; null: only the position has moved. */
  readonly told: { readonly source: string; readonly payload: Json } | null;
}

/**
 * What a target tells by itself after a position (null: from now on), for as long as it can be heard: ends, or throws, when
 * it cannot, and when the signal aborts.
 */
export type Watch = (position: string | null, signal: AbortSignal) => AsyncIterable<Sighting>;
