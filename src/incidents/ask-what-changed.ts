import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../core/errors.ts';
import type { ToolCallId } from '../core/ids.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { Json } from '../core/tool-call.ts';
import type { ChangesLooked, WhatChanged } from '../core/what-changed.ts';
import type { Credential } from '../safety/vault/credentials.ts';
import { callsOfThisRound } from './claims/evidence.ts';
import type { InvestigationDeps } from './deps.ts';
import { note } from './move.ts';

const TOOL = 'what_changed';

/**
 * Asks what was changed, once a round: the answer is a call like any other, and whoever looks for the cause begins with it. Never holds a
 * look up: null where it could not be asked, which its call tells. Whoever takes over in the same round goes by the same call.
 */
export async function changesLooked(
  deps: InvestigationDeps,
  record: Pick<IncidentRecord, 'incident' | 'events' | 'toolCalls'>,
  credential: Credential,
  signal: AbortSignal,
): Promise<ChangesLooked | null> {
  const { incident, events } = record;
  const known = events.findLast((event) => event.type === 'changes.looked');
  if (known?.type === 'changes.looked' && known.round === incident.round)
    return { toolCallId: known.toolCallId, found: known.found };
  try {
    const { toolCallId, found } = askedAlready(record) ?? (await ask(deps, credential, signal));
    if (found === null) return null;
    const looked: ChangesLooked = { toolCallId, found: found as unknown as WhatChanged };
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

/** Its answer as the gate gives it; null: it could not be asked. */
interface Asked {
  readonly toolCallId: ToolCallId;
  readonly found: Json;
}

/** By whoever looked before in this round, or before a crash. A call that was stopped is made again. */
function askedAlready({
  events,
  toolCalls,
}: Pick<IncidentRecord, 'events' | 'toolCalls'>): Asked | undefined {
  const ofRound = callsOfThisRound(events);
  const call = toolCalls.findLast(
    ({ id, tool, role, input, code }) =>
      tool === TOOL &&
      role === 'detective' &&
      code !== 'STOPPED' &&
      isDeepStrictEqual(input, {}) &&
      ofRound.has(id),
  );
  return call && { toolCallId: call.id, found: call.state === 'ok' ? call.result : null };
}

async function ask(deps: InvestigationDeps, credential: Credential, signal: AbortSignal): Promise<Asked> {
  const result = await deps.gate.call(
    credential,
    { tool: TOOL, target: null, input: {} },
    { purpose: 'What was changed before it began', signal },
  );
  signal.throwIfAborted();
  return { toolCallId: result.toolCallId, found: result.kind === 'ok' ? result.data : null };
}
