import type { Refusal } from '../../core/errors.ts';
import type { ApproverDirectory } from '../approvals/ports.ts';
import type { ApprovalPolicy } from './policy.ts';

/** What Slack said a moment ago may say yes, which is asked again where it counts. A no is said only as of now. */
export async function mayDecideNow(
  policy: Pick<ApprovalPolicy, 'mayDecide'>,
  cached: ApproverDirectory,
  [user, action, incident, decision]: Parameters<ApprovalPolicy['mayDecide']>,
): Promise<Refusal | undefined> {
  const mayNot = await policy.mayDecide(user, action, incident, decision, cached);
  return mayNot && policy.mayDecide(user, action, incident, decision);
}
