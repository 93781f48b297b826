import type { Action } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import { objectKeys, onSystem, type TouchedObject } from '../../core/denial.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { Json } from '../../core/tool-call.ts';
import type { ActiveTool, Preflight } from '../../tools/define.ts';

/** What a call of an active tool touches, under the physical identity of its target's system. */
export function touchedBy(
  tool: ActiveTool<unknown, Json>,
  input: Json,
  guard: Json,
  before: Preflight,
  system: string,
): readonly TouchedObject[] {
  return onSystem(system, tool.objects(input, guard, before));
}

/** Before it runs: it still touches what its card and the denials were looked up for. What the labels say may change. */
export function touchesTheSame(action: Action, now: readonly TouchedObject[]): Refusal | undefined {
  // One of before this was kept says nothing of it; the claim goes by what it would touch now.
  if (action.objects.length === 0) return undefined;
  const keys = (objects: readonly TouchedObject[]): string =>
    canonicalJson([...objectKeys(objects)].toSorted());
  return keys(now) === keys(action.objects)
    ? undefined
    : refuse('STATE_MOVED', 'It would touch something else than when this was proposed.');
}
