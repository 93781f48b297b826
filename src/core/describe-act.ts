import type { Action, Verbs } from './action.ts';
import { count } from './count.ts';
import { formatObjects, type TouchedObject } from './denial.ts';

type Act = Pick<Action, 'tool' | 'command' | 'objects' | 'verbs'>;

const verbsOf = ({ verbs, tool }: Act): Verbs =>
  verbs ?? { does: `Run ${tool} on`, did: `Ran ${tool} on`, button: `Run ${tool.replaceAll('_', ' ')}` };

/** `Restart service shop-worker`; the command of what touches nothing that has a name. `isDone`: it has run. */
export function describeAct(act: Act, isDone = false): string {
  if (act.objects.length === 0) return `${isDone ? 'Ran' : 'Run'} ${act.command}`;
  return `${verbsOf(act)[isDone ? 'did' : 'does']} ${formatObjects(act.objects.map(byName))}`;
}

/** What the button says that has a plan run: `End the session`, `Run both steps`. */
export function nameOfRun(steps: readonly Act[]): string {
  const [first] = steps;
  if (steps.length > 1)
    return steps.length === 2 ? 'Run both steps' : `Run all ${count(steps.length, 'step')}`;
  return first && first.objects.length > 0 ? verbsOf(first).button : 'Run it';
}

/** Its whole path stands in the command. */
const byName = (object: TouchedObject): TouchedObject =>
  object.kind === 'file' ? { ...object, label: `file ${object.label.split('/').at(-1)}` } : object;

/** `Change file worker.conf, then restart service shop-worker`; of more than two steps the first and how many more. */
export function describePlan(steps: readonly Act[], isDone = false): string {
  const [first, second, ...more] = steps.map((step) => describeAct(step, isDone));
  if (first === undefined) return 'Nothing';
  if (second === undefined) return first;
  if (more.length > 0) return `${first}, and ${more.length + 1} more steps`;
  return `${first}, then ${second.charAt(0).toLowerCase()}${second.slice(1)}`;
}
