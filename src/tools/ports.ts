import type { Refusal } from '../core/errors.ts';
import type { FirstLook } from '../core/target.ts';
import type { FetchedDocs } from '../safety/urls/fetch-docs.ts';

export interface SessionOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Pages of documentation. */
export interface Docs {
  readonly hosts: readonly string[];
  fetch(url: string, options: SessionOptions): Promise<FetchedDocs | Refusal>;
}

/** What tools may reach. */
export interface ToolPorts {
  /** The connection to a configured target, of its kind's own type. Throws OpsError NO_SYSTEM for a name that is not configured. */
  system(target: string): unknown;
  /** Keeps the connection open that a target has now, until what it returns is called. */
  hold?(target: string): () => void;
  /** What to look at first on it when no runbook fits. */
  looks(target: string): readonly FirstLook[];
  readonly docs: Docs;
}
