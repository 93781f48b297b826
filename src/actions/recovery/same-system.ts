import type { VerifyPlan } from '../../core/tool-call.ts';
import type { TargetIdentity } from '../../targets/kind.ts';
import { isOfRecord } from '../faults.ts';

type Identify = (target: string) => Promise<TargetIdentity>;

/** As a criterion keeps it: a promoted standby is another server, too. */
export const systemKey = ({ systemIdentifier, timelineId }: TargetIdentity): string =>
  `${systemIdentifier}/${timelineId}`;

/** What a target shows now says nothing of the system that a criterion is about. */
export interface Stranger {
  /** False: nobody can tell which system it is, so only that it is well is not believed. */
  readonly isOther: boolean;
  /** For people. */
  readonly line: string;
}

/**
 * A plan with the systems that its targets' names stand for now. What is bound already stays; of what cannot be told now,
 * nothing is kept, and whatever has its name is judged.
 */
export async function bindSystems(identity: Identify, target: string, plan: VerifyPlan): Promise<VerifyPlan> {
  const found: Record<string, string> = {};
  for (const name of namesIn(plan, target)) {
    const now = plan.systems?.[name] ?? (await systemNow(identity, name));
    if (now !== null) found[name] = now;
  }
  return { ...plan, systems: found };
}

/** The targets of a plan that stand for another system than when it was bound, or may. */
export async function strangersIn(
  identity: Identify,
  target: string,
  plan: VerifyPlan,
): Promise<ReadonlyMap<string, Stranger>> {
  const found = new Map<string, Stranger>();
  for (const name of namesIn(plan, target)) {
    const bound = plan.systems?.[name];
    if (bound === undefined) continue;
    const now = await systemNow(identity, name);
    if (now === null) found.set(name, { isOther: false, line: `which server ${name} is cannot be told now` });
    else if (now !== bound)
      found.set(name, {
        isOther: true,
        line: `${name} is now another server than when it was looked at (failover, restore, or another address)`,
      });
  }
  return found;
}

/** Null: that cannot be told now. Throws NOT_RECORDED where it was our own record that failed, of which a criterion says nothing. */
async function systemNow(identity: Identify, name: string): Promise<string | null> {
  try {
    return systemKey(await identity(name));
  } catch (error) {
    if (isOfRecord(error)) throw error;
    return null;
  }
}

const namesIn = ({ steps }: VerifyPlan, target: string): ReadonlySet<string> =>
  new Set(steps.map((step) => step.target ?? target));
