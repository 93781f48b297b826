import type { V1PodCondition } from '@kubernetes/client-node';
import { type Pod, timestamp, type Wire } from '../objects.ts';

export const isReady = (pod: Pod): boolean =>
  pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
}

/** The conditions with one of them as it is now: its time moves only when its status does. */
export function withCondition<T extends Condition>(conditions: readonly T[] | undefined, condition: T): T[] {
  const before = (conditions ?? []).find(({ type }) => type === condition.type);
  const lastTransitionTime =
    before?.status === condition.status ? (before.lastTransitionTime ?? timestamp()) : timestamp();
  const now = { ...condition, lastTransitionTime };
  if (before === undefined) return [...(conditions ?? []), now];
  return (conditions ?? []).map((each) => (each.type === condition.type ? now : each));
}

export function setPodCondition(
  pod: Pod,
  type: string,
  holds: boolean,
  why: Partial<Wire<V1PodCondition>> = {},
): void {
  const condition = { type, status: holds ? 'True' : 'False', ...(holds ? {} : why) };
  pod.status.conditions = withCondition(pod.status.conditions, condition);
}
