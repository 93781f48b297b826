/** What a paging service tells of a page whose key has the form of ours. */
export interface PageNews {
  /** `INC-12` or `INC-12-level-2`. That the page is ours is certain only where the record has it. */
  readonly dedupKey: string;
  /**
   * `released`: who had it has it no more, and it is open. `reassigned`: it is another's now. `echo`: it changes nothing about whose
   * it is (our own page coming back).
   */
  readonly kind: 'acknowledged' | 'released' | 'reassigned' | 'resolved' | 'echo';
  /** The person who did it, as they are called there; null: no person, or it is not told. Not ours: to be escaped. */
  readonly by: string | null;
  /** Whose it is now, where it was reassigned and that is told. */
  readonly to: string | null;
  /** ISO 8601. */
  readonly at: string;
}
