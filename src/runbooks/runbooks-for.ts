import type { Target } from '../core/target.ts';
import type { Runbook } from './runbook.ts';

/** The tool registry, as far as it says which kinds of targets a tool is for; undefined: for all. */
interface ToolKinds {
  get(name: string): { readonly targetKinds?: readonly Target['kind'][] } | undefined;
}

/**
 * Those whose steps can be read on a target of this kind: kinds may share a domain, and a runbook of hosts says nothing of
 * containers. All of them where the kind is not known.
 */
export function runbooksFor(
  runbooks: readonly Runbook[],
  kind: Target['kind'] | undefined,
  tools: ToolKinds,
): readonly Runbook[] {
  if (kind === undefined) return runbooks;
  return runbooks.filter(({ steps }) =>
    steps.every(
      ({ call, neighbour }) =>
        neighbour !== undefined || (tools.get(call)?.targetKinds?.includes(kind) ?? true),
    ),
  );
}
