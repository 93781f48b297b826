import type { FilePatch } from './patch-types.ts';

/** What was written, enough to undo it: plain JSON. */
export interface PatchReceipt {
  readonly root: string;
  readonly files: readonly AppliedFile[];
}

export interface AppliedFile {
  readonly kind: FilePatch['kind'];
  /** Relative to the root. */
  readonly path: string;
  /** Name of the backup beside the file; null for a created file. */
  readonly backup: string | null;
  readonly beforeSha256: string | null;
  readonly afterSha256: string | null;
  readonly mode: number;
}
