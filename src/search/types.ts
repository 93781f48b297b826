/** Runbooks and incidents are kept by domain, documents by store: where a search may look is decided by naming spaces. */
export interface Space {
  readonly kind: SearchKind;
  /** A domain, or a store's id. */
  readonly scope: string;
}
export const searchKinds = ['runbook', 'incident', 'document'] as const;
export type SearchKind = (typeof searchKinds)[number];

/** What can be found. Markdown in `text`: its headings count more than what stands under them. */
export interface Entry {
  /** Unique in its space. */
  readonly key: string;
  readonly title: string;
  readonly text: string;
  /** Given back with a hit. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface SearchRequest {
  /** An alert's text, an error message, a question. The first 2,000 characters count. */
  readonly text: string;
  /** Only these are looked into. */
  readonly spaces: readonly Space[];
  /** How many hits; 10 when left out. */
  readonly k?: number;
  /** How long the answer may wait for nearness in meaning where an embedding is configured, in ms; 0: not at all. */
  readonly meaningWithinMs: number;
}

export interface SearchAnswer {
  /** Best first. */
  readonly hits: readonly SearchHit[];
  /** `none`: it was not asked, or nothing is embedded yet; `late`, `away`: words alone decided. */
  readonly meaning: 'used' | 'none' | 'late' | 'away';
}

export interface SearchHit {
  readonly space: Space;
  readonly key: string;
  readonly title: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly updatedAt: string;
  readonly text: string;
  /** 0–1, comparable between spaces and kinds: the sum of its shares. */
  readonly score: number;
  readonly shares: Shares;
}

/** What each part gave to the score. */
export interface Shares {
  /** Words of the query in text and headings, the rare ones more. At most 0.3. */
  readonly body: number;
  /** Words of the query in the title, and how much of the title they cover. At most 0.6. */
  readonly title: number;
  /** Nearness of the nearest chunk in meaning. At most 0.1. */
  readonly meaning: number;
  /** The words that counted, heaviest first. */
  readonly terms: readonly { readonly term: string; readonly share: number }[];
}

export function spaceName({ kind, scope }: Space): string {
  return `${kind}:${scope}`;
}

export function spaceOf(name: string): Space {
  const at = name.indexOf(':');
  const kind = searchKinds.find((known) => known === name.slice(0, at));
  if (kind === undefined) throw new TypeError(`not the name of a space: ${name}`);
  return { kind, scope: name.slice(at + 1) };
}
