import type { Action } from './action.ts';
import { formatObjects, type TouchedObject } from './denial.ts';

type Act = Pick<Action, 'tool' | 'command' | 'objects'>;

/** What a tool does to the things it touches, as people say it. */
const verbs: Readonly<Record<string, string>> = {
  apply_patch: 'Change',
  undo_patch: 'Put back',
  restart_service: 'Restart',
  postgres_autovacuum_on: 'Switch autovacuum on for',
  postgres_cancel_query: 'Cancel the query of',
  postgres_set_setting: 'Change',
  postgres_terminate_backend: 'End',
  postgres_vacuum_table: 'Vacuum',
};

/** `Restart service shop-worker`; the command of what touches nothing that has a name. */
export function describeAct({ tool, command, objects }: Act): string {
  if (objects.length === 0) return `Run ${command}`;
  const verb = Object.hasOwn(verbs, tool) ? verbs[tool] : undefined;
  return `${verb ?? `Run ${tool} on`} ${formatObjects(objects.map(byName))}`;
}

/** Its whole path stands in the command. */
const byName = (object: TouchedObject): TouchedObject =>
  object.kind === 'file' ? { ...object, label: `file ${object.label.split('/').at(-1)}` } : object;

/** `Change file worker.conf, then restart service shop-worker`; of more than two steps the first and how many more. */
export function describePlan(steps: readonly Act[]): string {
  const [first, second, ...more] = steps.map(describeAct);
  if (first === undefined) return 'Nothing';
  if (second === undefined) return first;
  if (more.length > 0) return `${first}, and ${more.length + 1} more steps`;
  return `${first}, then ${second.charAt(0).toLowerCase()}${second.slice(1)}`;
}
