import { messageOf } from '../core/errors.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { ChangesLooked, WhatChanged } from '../core/what-changed.ts';
import type { Credential } from '../safety/vault/credentials.ts';
import type { InvestigationDeps } from './deps.ts';
import { note } from './move.ts';

/**
 * Asks what was changed, once a round: the answer is a call like any other, and whoever looks for the cause begins with it. Never holds a
 * look up: null where it could not be asked, which its call tells.
 */
export async function changesLooked(
  deps: InvestigationDeps,
  { incident, events }: Pick<IncidentRecord, 'incident' | 'events'>,
  credential: Credential,
  signal: AbortSignal,
): Promise<ChangesLooked | null> {
  const known = events.findLast((event) => event.type === 'changes.looked');
  if (known?.type === 'changes.looked' && known.round === incident.round)
    return { toolCallId: known.toolCallId, found: known.found };
  try {
    const result = await deps.gate.call(
      credential,
      { tool: 'what_changed', target: null, input: {} },
      { purpose: 'What was changed before it began', signal },
    );
    signal.throwIfAborted();
    if (result.kind !== 'ok' || result.data === null) return null;
    const looked: ChangesLooked = {
      toolCallId: result.toolCallId,
      found: result.data as unknown as WhatChanged,
    };
    await note(deps, incident, `changes:${incident.round}`, {
      type: 'changes.looked',
      round: incident.round,
      ...looked,
    });
    return looked;
  } catch (error) {
    if (signal.aborted) throw error;
    deps.log.warn({ incident: incident.id, error: messageOf(error) }, 'could not ask what was changed');
    return null;
  }
}
