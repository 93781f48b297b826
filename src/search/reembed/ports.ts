import type { VectorMetadata } from '../ports.ts';

export interface StoredText {
  readonly id: string;
  readonly document: string;
  readonly metadata: VectorMetadata;
}

/** Whole collections. Every call ends within its time limit. @throws OpsError CHROMA_UNAVAILABLE */
export interface VectorUpkeep {
  /** The fingerprint of the embedding that made it; null when there is no such collection. */
  madeBy(name: string): Promise<string | null>;
  /** Without vectors; empty when there is no such collection. */
  readAll(name: string): Promise<readonly StoredText[]>;
  /** False when there is none of that name. Whoever has it open goes on with it. */
  rename(from: string, to: string): Promise<boolean>;
  /** Nothing when there is none. */
  drop(name: string): Promise<void>;
}
