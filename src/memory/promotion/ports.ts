import type { IncidentId } from '../../domain/ids.ts';
import type { Domain } from '../../domain/incident.ts';
import type { DocType } from '../documents/document.ts';

/** Says to people what became of proposals. Called after the commit; must not throw, and what is missed is still in the list. */
export interface PromotionNotifier {
  proposed(jobId: string): void;
  decided(jobId: string): void;
}

/** Whether somebody is an admin. @throws when it cannot be told; then nothing is decided. */
export type IsAdmin = (userId: string) => Promise<boolean>;

/** What an admin is shown before deciding. Times are ISO 8601. */
export interface Promotion {
  readonly jobId: string;
  readonly state: 'pending' | 'approved' | 'rejected';
  readonly incidentId: IncidentId | null;
  readonly domain: Domain;
  readonly rationale: string;
  readonly proposedBy: string;
  readonly proposedAt: string;
  readonly decidedBy: string | null;
  readonly decidedAt: string | null;
  readonly reason: string | null;
  readonly documentId: string;
  /** The proposed version: what approving approves. */
  readonly version: number;
  readonly title: string;
  readonly docType: DocType;
  readonly content: string;
  readonly sha256: string;
  readonly sources: readonly { readonly kind: string; readonly ref: string }[];
  readonly target: { readonly store: string; readonly path: string };
  /** What stands in the workspace now under that path. */
  readonly current: { readonly sha256: string; readonly content: string } | null;
  /** Of what stood there when it was proposed. */
  readonly currentSha256AtProposal: string | null;
  readonly result: { readonly documentId: string; readonly version: number } | null;
}
