import { DBOS } from '@dbos-inc/dbos-sdk';

/** What earlier tries of the same turn have finished, for the one that comes after them. */
export interface EarlierTries {
  /** What the last try that finished a step of this name got from it; undefined: none did. Only within a step. */
  resultOf(name: string): Promise<unknown>;
  /** From here on no step that an earlier try has finished runs again: its result is taken. */
  goOn(): void;
}

export interface TakenUp extends EarlierTries {
  readonly isGoingOn: boolean;
  /** Of the `nth` step of that name, from 0. Only within a step. */
  finished(name: string, nth: number): Promise<{ readonly output: unknown } | undefined>;
}

interface FinishedStep {
  readonly output: unknown;
}

/**
 * A turn that failed is asked for again as a workflow of its own, for which the engine has recorded nothing. Its steps,
 * model messages among them, are on record under the workflows before it.
 *
 * @param workflows of the earlier tries, the latest first
 */
export function createEarlierTries(workflows: readonly string[]): TakenUp {
  let isGoingOn = false;
  let loading: Promise<readonly ReadonlyMap<string, readonly (FinishedStep | null)[]>[]> | undefined;
  const load = () => {
    loading ??= Promise.all(workflows.map(stepsOf));
    return loading;
  };

  async function finished(name: string, nth: number): Promise<FinishedStep | undefined> {
    for (const steps of await load()) {
      const step = steps.get(name)?.[nth];
      if (step) return step;
    }
    return undefined;
  }

  return {
    get isGoingOn() {
      return isGoingOn;
    },
    goOn: () => {
      isGoingOn = true;
    },
    finished: async (name, nth) => (isGoingOn ? finished(name, nth) : undefined),
    resultOf: async (name) => (await finished(name, 0))?.output,
  };
}

/** By name, in the order in which they began; null for those that failed. */
async function stepsOf(workflow: string): Promise<ReadonlyMap<string, readonly (FinishedStep | null)[]>> {
  const byName = new Map<string, (FinishedStep | null)[]>();
  // Within a step this is a plain read. Workflows that were tidied away have none.
  for (const { name, output, error } of (await DBOS.listWorkflowSteps(workflow)) ?? []) {
    const steps = byName.get(name) ?? [];
    steps.push(error === null && output !== null ? { output } : null);
    byName.set(name, steps);
  }
  return byName;
}
