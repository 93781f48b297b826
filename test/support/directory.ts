import type { ApproverDirectory } from '../../src/actions/approvals/ports.ts';

type Asked = Pick<ApproverDirectory, 'groupMembers' | 'channelMembers' | 'mayAct'>;

/** A workspace in which everybody is a full member, and groups and channels are empty where a test does not fill them. */
export function directoryOf(asked: Partial<Asked> = {}): ApproverDirectory {
  const directory: ApproverDirectory = {
    groupMembers: async () => [],
    channelMembers: async () => [],
    mayAct: async () => ({ ok: true }),
    ...asked,
    asOfNow: () => directory,
  };
  return directory;
}
