import type { Refusal } from '../../core/errors.ts';

/** Who people are, and who is in a group or a channel. Throws when it cannot be known: that is a *no*. */
export interface ApproverDirectory {
  /** `group`: a Slack user group's id or handle. User ids. */
  groupMembers(group: string): Promise<readonly string[]>;
  /** `channel`: a Slack channel's id. User ids. */
  channelMembers(channel: string): Promise<readonly string[]>;
  /** Refuses whoever is no full member of the organisation, and whoever cannot be looked up. `teamId`: as Slack signed it. */
  mayAct(userId: string, teamId: string | null): Promise<{ readonly ok: true } | Refusal>;
  /** The same for one decision: everything is asked of Slack anew, once, and nothing that was heard before counts. */
  asOfNow(): ApproverDirectory;
}
