import type { IncidentId } from '../../domain/ids.ts';
import type { Slot } from '../blocks/slot.ts';

/** A proposal for everybody's memory, by its job. */
export type ProposalId = string & { readonly __brand: 'ProposalId' };

/** What has messages in Slack that are kept as the record says: an incident its thread, a proposal its card. */
export type SubjectId = IncidentId | ProposalId;

export const asProposalId = (jobId: string): ProposalId => jobId as ProposalId;

/** Incidents are called INC-n, so the two never meet in one table. */
export const isProposal = (id: SubjectId): id is ProposalId => id.startsWith('dream_');

/** All messages that should stand in Slack now. */
export interface Drawing {
  readonly slots: readonly Slot[];
  /** Where the first of them is posted. */
  readonly channel: string;
}
