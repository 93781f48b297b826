import type { IncidentId } from '../../core/ids.ts';
import type { Domain } from '../../core/incident.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import type { DocType } from '../documents/document.ts';
import type { SystemFacts } from '../systems/system-facts.ts';

/** Whether somebody is an admin. @throws when it cannot be told; then nothing is decided. */
export type IsAdmin = (userId: string) => Promise<boolean>;

/** What came of trying a runbook's steps on a live system, with reading tools alone. */
export interface DryRunReport {
  /** Every step that was reached could be read and tested, and so could those that need nothing of earlier ones. */
  readonly passed: boolean;
  /** The system it was tried on; null when there was none. */
  readonly target: string | null;
  /** A line a step, for people. */
  readonly lines: readonly string[];
}

export interface DryRun extends DryRunReport {
  /** Of the text that was tried. */
  readonly sha256: string;
  readonly at: string;
}

/** What its reads are said to be for in the record: they are no part of the investigation. */
export const dryRunPurpose = 'Dry run: ';

/** Tries a runbook's steps on the incident's target, else on one of its domain. Changes nothing. */
export type RunDry = (runbook: Runbook, incidentId: IncidentId | null) => Promise<DryRunReport>;

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
  /** What it was learnt on; null where that is not known. */
  readonly system: SystemFacts | null;
  readonly sources: readonly { readonly kind: string; readonly ref: string }[];
  readonly target: { readonly store: string; readonly path: string };
  /** What stands in the workspace now under that path. */
  readonly current: { readonly sha256: string; readonly content: string } | null;
  /** Of what stood there when it was proposed. */
  readonly currentSha256AtProposal: string | null;
  readonly result: { readonly documentId: string; readonly version: number } | null;
  /** What was approved is not what was proposed. */
  readonly edited: boolean;
}
