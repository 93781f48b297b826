import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type Embedder, isOffline } from '../ports.ts';
import { measureCuts } from './measure-cuts.ts';

/** How far a past incident may be and still be called similar, in cosine distance (0–2). */
export interface DistanceCuts {
  /** Of the same kind, or of the same alert. */
  readonly sameKind: number;
  /** Where neither is known, and distance must do alone. */
  readonly unnamed: number;
}

/**
 * The offline embedding, measured on recorded incidents: bench/README.md, "recall". Alert titles of different faults of one database are nearer to
 * each other than a long document is to its own title, so distance alone cannot tell them apart: the kind, or the alert's
 * name, must be equal, and distance only drops what shares the name by accident.
 */
const offline: DistanceCuts = { sameKind: 0.65, unnamed: 0.35 };

/** The seed's 1.5 is Chroma's squared L2, which is 0.75 in cosine on unit vectors: for what is not measured yet. */
const seeds: DistanceCuts = { sameKind: 0.75, unnamed: 0.4 };

/**
 * The cuts of the embedding in use. One that is not known is measured in the background when it is first asked for (60
 * short texts); until then, and where that fails, the seed's hold.
 */
export function createDistanceCuts(deps: {
  readonly embedder: Embedder;
  readonly log: Log;
}): () => DistanceCuts {
  const measured = new Map<string, DistanceCuts>();
  const underWay = new Set<string>();

  async function measure(fingerprint: string): Promise<void> {
    try {
      const cuts = await measureCuts(deps.embedder);
      // Another may have taken over meanwhile.
      if (deps.embedder.fingerprint !== fingerprint) return;
      measured.set(fingerprint, cuts);
      deps.log.info({ ...cuts }, 'how far a past incident may be was measured for this embedding');
    } catch (error) {
      deps.log.warn({ error: messageOf(error) }, 'how far a past incident may be could not be measured yet');
    } finally {
      underWay.delete(fingerprint);
    }
  }

  return () => {
    const { fingerprint } = deps.embedder;
    if (isOffline(deps.embedder)) return offline;
    const known = measured.get(fingerprint);
    if (known === undefined && !underWay.has(fingerprint)) {
      underWay.add(fingerprint);
      void measure(fingerprint);
    }
    return known ?? seeds;
  };
}
