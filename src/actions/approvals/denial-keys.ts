import { applicationKeys, objectKeys, type TouchedObject } from '../../core/denial.ts';
import type { IncidentId } from '../../core/ids.ts';
import { tidyCommand } from '../../core/same-command.ts';
import { sha256 } from '../../safety/sha256.ts';

/** The key of this very action in this incident, whatever it is written like. */
export function actionKey(action: {
  readonly incidentId: IncidentId;
  readonly tool: string;
  readonly identity: string | null;
  readonly target: string;
  readonly command: string;
}): string {
  const { incidentId, tool, identity, target, command } = action;
  const what = [tool, identity ?? target, tidyCommand(command)].join('\0');
  return `incident/${incidentId}/action/${sha256(what)}`;
}

/** All keys under which a denial would cover an action. */
export function denialKeys(
  action: Parameters<typeof actionKey>[0] & { readonly objects: readonly TouchedObject[] },
): readonly string[] {
  return [...objectKeys(action.objects), ...applicationKeys(action.objects), actionKey(action)];
}
