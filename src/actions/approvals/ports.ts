/** Who is in a group or a channel, asked at the moment of the click. Throws when it cannot be known: that is a *no*. */
export interface ApproverDirectory {
  /** `group`: a Slack user group's id or handle. User ids. */
  groupMembers(group: string): Promise<readonly string[]>;
  /** `channel`: a Slack channel's id. User ids. */
  channelMembers(channel: string): Promise<readonly string[]>;
}
