/** One file of a unified diff; paths relative to the root, without `a/` and `b/`. */
export interface FilePatch {
  readonly kind: 'modify' | 'create' | 'delete';
  readonly path: string;
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
}

/** As in `@@ -oldStart,oldCount +newStart,newCount @@`; lines keep their first character (` `, `+`, `-`, `\`). */
export interface Hunk {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
  readonly lines: readonly string[];
}

export interface ParsedDiff {
  readonly ok: true;
  readonly files: readonly FilePatch[];
}

/** What a patch may do; every limit is checked before any file is touched. */
export interface DiffLimits {
  /** Bytes of the diff's text. */
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** Added and removed lines together. */
  readonly maxChangedLines: number;
  /** Bytes of a file before and after. */
  readonly maxFileBytes: number;
  readonly allowDelete: boolean;
}

/** Small enough that a person reads it before approving. */
export const defaultDiffLimits: DiffLimits = {
  maxBytes: 64 * 1024,
  maxFiles: 10,
  maxChangedLines: 400,
  maxFileBytes: 1024 * 1024,
  allowDelete: false,
};
