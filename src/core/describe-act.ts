import type { Action } from './action.ts';
import { formatObjects, type TouchedObject } from './denial.ts';

type Act = Pick<Action, 'tool' | 'command' | 'objects'>;

interface Verb {
  readonly does: string;
  readonly did: string;
  /** What its button says. */
  readonly button: string;
}

/** What a tool does to the things it touches, as people say it. */
const verbs: Readonly<Record<string, Verb>> = {
  apply_patch: { does: 'Change', did: 'Changed', button: 'Change the file' },
  undo_patch: { does: 'Put back', did: 'Put back', button: 'Put it back' },
  restart_service: { does: 'Restart', did: 'Restarted', button: 'Restart it' },
  postgres_autovacuum_on: {
    does: 'Switch autovacuum on for',
    did: 'Switched autovacuum on for',
    button: 'Switch it on',
  },
  postgres_cancel_query: {
    does: 'Cancel the query of',
    did: 'Cancelled the query of',
    button: 'Cancel the query',
  },
  postgres_set_setting: { does: 'Change', did: 'Changed', button: 'Change the setting' },
  postgres_terminate_backend: { does: 'End', did: 'Ended', button: 'End the session' },
  postgres_vacuum_table: { does: 'Vacuum', did: 'Vacuumed', button: 'Vacuum the table' },
};

const verbOf = ({ tool }: Pick<Act, 'tool'>): Verb =>
  (Object.hasOwn(verbs, tool) ? verbs[tool] : undefined) ?? {
    does: `Run ${tool} on`,
    did: `Ran ${tool} on`,
    button: 'Run it',
  };

/** `Restart service shop-worker`; the command of what touches nothing that has a name. `tense`: `did` once it has run. */
export function describeAct(act: Act, tense: 'does' | 'did' = 'does'): string {
  if (act.objects.length === 0) return `${tense === 'did' ? 'Ran' : 'Run'} ${act.command}`;
  return `${verbOf(act)[tense]} ${formatObjects(act.objects.map(byName))}`;
}

/** What the button says that has a plan run: `End the session`, `Run both steps`. */
export function nameOfRun(steps: readonly Act[]): string {
  const [first] = steps;
  if (steps.length > 1) return steps.length === 2 ? 'Run both steps' : `Run all ${steps.length} steps`;
  return first && first.objects.length > 0 ? verbOf(first).button : 'Run it';
}

/** Its whole path stands in the command. */
const byName = (object: TouchedObject): TouchedObject =>
  object.kind === 'file' ? { ...object, label: `file ${object.label.split('/').at(-1)}` } : object;

/** `Change file worker.conf, then restart service shop-worker`; of more than two steps the first and how many more. */
export function describePlan(steps: readonly Act[], tense: 'does' | 'did' = 'does'): string {
  const [first, second, ...more] = steps.map((step) => describeAct(step, tense));
  if (first === undefined) return 'Nothing';
  if (second === undefined) return first;
  if (more.length > 0) return `${first}, and ${more.length + 1} more steps`;
  return `${first}, then ${second.charAt(0).toLowerCase()}${second.slice(1)}`;
}
