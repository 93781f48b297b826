import type { Action } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import { applicationKeys, objectKeys } from '../../core/denial.ts';
import { tidyCommand } from '../../core/same-command.ts';
import { sha256 } from '../../safety/sha256.ts';

type Act = Pick<Action, 'tool' | 'verbs' | 'target' | 'identity' | 'command' | 'objects'>;

/** The key of this very action in this incident, whatever it is written like. */
export function actionKey(action: Omit<Act, 'verbs' | 'objects'> & Pick<Action, 'incidentId'>): string {
  const { incidentId, tool, identity, target, command } = action;
  const what = [tool, identity ?? target, tidyCommand(command)].join('\0');
  return `incident/${incidentId}/action/${sha256(what)}`;
}

/**
 * Keys of what an action does to each thing, in every incident: by its tool, and by the word that people read, so that it stays
 * the same act when either is called otherwise. Its arguments make no other act of it.
 */
export function actKeys({ tool, verbs, target, identity, command, objects }: Act): readonly string[] {
  const does = [['tool', tool], ...(verbs ? [['does', verbs.does.toLowerCase()]] : [])];
  // What touches nothing that has a name is known by its command.
  const things =
    objects.length > 0 ? objectKeys(objects) : [canonicalJson([identity ?? target, tidyCommand(command)])];
  return things.flatMap((thing) => does.map((how) => `act/${sha256(canonicalJson([...how, thing]))}`));
}

/** All keys under which a denial would cover an action in whichever incident, as its row keeps them. */
export const keysEverywhere = (act: Act): readonly string[] => [
  ...objectKeys(act.objects),
  ...applicationKeys(act.objects),
  ...actKeys(act),
];

/** All keys under which a denial would cover an action. */
export const denialKeys = (action: Act & Pick<Action, 'incidentId'>): readonly string[] => [
  ...keysEverywhere(action),
  actionKey(action),
];
