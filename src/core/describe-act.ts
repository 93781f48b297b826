import type { Action } from './action.ts';
import { formatObjects, type TouchedObject } from './denial.ts';

type Act = Pick<Action, 'tool' | 'command' | 'objects'>;

/** What a tool does to the things it touches, as people say it: before it ran, afterwards, and on its button. */
const verbs: Readonly<Record<string, readonly [does: string, did: string, button: string]>> = {
  apply_patch: ['Change', 'Changed', 'Change the file'],
  undo_patch: ['Put back', 'Put back', 'Put the file back'],
  restart_service: ['Restart', 'Restarted', 'Restart the service'],
  postgres_autovacuum_on: ['Switch autovacuum on for', 'Switched autovacuum on for', 'Switch autovacuum on'],
  postgres_cancel_query: ['Cancel the query of', 'Cancelled the query of', 'Cancel the query'],
  postgres_set_setting: ['Change', 'Changed', 'Change the setting'],
  postgres_terminate_backend: ['End', 'Ended', 'End the session'],
  postgres_vacuum_table: ['Vacuum', 'Vacuumed', 'Vacuum the table'],
};

const verbsOf = (tool: string) =>
  (Object.hasOwn(verbs, tool) ? verbs[tool] : undefined) ??
  ([`Run ${tool} on`, `Ran ${tool} on`, `Run ${tool.replaceAll('_', ' ')}`] as const);

/** `Restart service shop-worker`; the command of what touches nothing that has a name. `isDone`: it has run. */
export function describeAct(act: Act, isDone = false): string {
  if (act.objects.length === 0) return `${isDone ? 'Ran' : 'Run'} ${act.command}`;
  return `${verbsOf(act.tool)[isDone ? 1 : 0]} ${formatObjects(act.objects.map(byName))}`;
}

/** What a tool does, without saying to which one: `End the session`. */
export const nameOfAct = (tool: string): string => verbsOf(tool)[2];

/** What the button says that has a plan run: `End the session`, `Run both steps`. */
export function nameOfRun(steps: readonly Act[]): string {
  const [first] = steps;
  if (steps.length > 1) return steps.length === 2 ? 'Run both steps' : `Run all ${steps.length} steps`;
  return first && first.objects.length > 0 ? nameOfAct(first.tool) : 'Run it';
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
