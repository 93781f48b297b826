import type { IncidentId } from '../../core/ids.ts';
import type { Slot } from '../views/blocks/slot.ts';

/** A proposal for everybody's memory, by its job. */
export type ProposalId = string & { readonly __brand: 'ProposalId' };

/** A thread of a direct message with the bot. */
export type DirectId = string & { readonly __brand: 'DirectId' };

/** Many problems opened within the same minutes. */
export type BurstId = string & { readonly __brand: 'BurstId' };

/** Alerts that wait, said where they would have been told. */
export type MuteId = string & { readonly __brand: 'MuteId' };

/** The proposals of an incident, where approvals wait. */
export type ApprovalsId = string & { readonly __brand: 'ApprovalsId' };

/**
 * What has messages in Slack that are on record: an incident its thread, a proposal its card, a direct message's thread its
 * answers, a burst its digest, a mute its begin and end, an incident's proposals their lines in the approvals channel.
 */
export type SubjectId = IncidentId | ProposalId | DirectId | BurstId | MuteId | ApprovalsId;

export const asProposalId = (jobId: string): ProposalId => jobId as ProposalId;

export const directId = (channel: string, threadTs: string): DirectId =>
  `direct:${channel}:${threadTs}` as DirectId;

export const isIncident = (id: SubjectId): id is IncidentId => id.startsWith('INC-');

/** Incidents are called INC-n, so the two never meet in one table. */
export const isProposal = (id: SubjectId): id is ProposalId => id.startsWith('dream_');

/** Its messages are said, not drawn. */
export const isDirect = (id: SubjectId): id is DirectId => id.startsWith('direct:');

export const isBurst = (id: SubjectId): id is BurstId => id.startsWith('burst:');

export const asMuteSubject = (id: string): MuteId => `mute:${id}` as MuteId;

export const isMute = (id: SubjectId): id is MuteId => id.startsWith('mute:');

export const approvalsOf = (id: IncidentId): ApprovalsId => `approvals:${id}` as ApprovalsId;

export const isApprovals = (id: SubjectId): id is ApprovalsId => id.startsWith('approvals:');

/** All messages that should stand in Slack now. */
export interface Drawing {
  readonly slots: readonly Slot[];
  /** Where the first of them is posted. */
  readonly channel: string;
}
