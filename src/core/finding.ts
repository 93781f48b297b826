/** What came of looking at one part, for people. */
export interface Finding {
  readonly part: string;
  readonly ok: boolean;
  readonly says: string;
  /** What to do about it; null when it is well. */
  readonly todo: string | null;
}
