import { type Refusal, refuse } from '../core/errors.ts';
import type { IncidentEventBody } from '../core/event.ts';
import type { ActionId, IncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import { mayMove } from '../core/machine.ts';
import type { Tx } from '../core/sql.ts';
import type { ToolCallRequest, ToolCallResult } from '../core/tool-call.ts';
import type { InvestigationDeps } from './deps.ts';
import { moveIn } from './move.ts';

/** What somebody outside of the incident's own planning has asked for: a person again, or an MCP client. */
export interface AskedFor {
  readonly role: 'surgeon' | 'mcp';
  readonly request: ToolCallRequest & { readonly target: string };
  readonly purpose: string;
  /** Whose proposal it is; left out for one that stays Sentry's. */
  readonly by?: string;
  /** It is nobody's change of mind: a No of this round keeps it back. */
  readonly heedsNo?: true;
  /** It repairs nothing that is wrong now, and is judged by its effect alone. */
  readonly prevents?: true;
  /** It is to keep what is fixed from coming back: the incident stays where it is. */
  readonly lasting?: ActionId;
  /** It takes the place of this one: the incident waits for a decision already. */
  readonly edits?: ActionId;
  readonly reason: string;
  readonly nextStep: string;
  readonly events?: readonly IncidentEventBody[];
  /** In the transaction that stores the proposal. */
  also?(tx: Tx): Promise<void>;
}

/** Nothing of the incident runs or is planned, and it is not over: what is asked for can be waited for. */
export const waitsForPeople = ({ state }: Incident): boolean =>
  state !== 'planning' && mayMove(state, 'awaiting_approval');

/** Why nothing can be asked for in an incident that does not wait for people. */
export function atWork({ id, state, endedAt }: Incident): Refusal {
  if (endedAt)
    return refuse('AT_WORK', `${id} is over. If it is not, open it anew: /sentry investigate <what you see>`);
  if (state === 'stopped')
    return refuse('AT_WORK', `${id} is stopped. Resume it first: /sentry resume ${id}`);
  return refuse(
    'AT_WORK',
    state === 'awaiting_approval'
      ? 'Another plan of this incident waits for its decision. Decide on that one first.'
      : `${id} is being worked on. Try again when it waits for people.`,
  );
}

/** Through the gate like any proposal: fresh pre-flight, new card. The incident waits for it from the same moment on. */
export async function askForApproval(
  deps: InvestigationDeps,
  incident: Incident,
  asked: AskedFor,
): Promise<ToolCallResult> {
  const { role, request, by, heedsNo, prevents, lasting, edits, events = [] } = asked;
  const andThen = request.proposal?.andThen ?? [];
  const credential = deps.vault.mint({
    role,
    incidentId: incident.id,
    targets: [request.target],
    tools: [request.tool, ...andThen.map(({ tool }) => tool)],
  });
  const stored = async (tx: Tx, id: ActionId, expiresMinutes: number): Promise<void> => {
    await asked.also?.(tx);
    if (lasting) {
      for (const event of events) await deps.records.append(tx, incident.id, event);
      return;
    }
    if (edits) {
      if (!(await stillWaits(tx, incident.id))) throw new IncidentMoved();
      for (const event of events) await deps.records.append(tx, incident.id, event);
      await tx`SELECT sentry_enqueue_turn(${incident.id}, 'edited', ${expiresMinutes * 60_000 + 500}::bigint)`;
      return;
    }
    const moved = await moveIn(tx, deps, incident, {
      from: incident.state,
      to: 'awaiting_approval',
      reason: asked.reason,
      key: `asked again:${id}`,
      changes: { nextStep: asked.nextStep },
      events,
      turnAfterMs: expiresMinutes * 60_000 + 500,
    });
    if (moved !== 'moved') throw new IncidentMoved();
  };
  try {
    return await deps.gate.call(credential, request, {
      purpose: asked.purpose,
      signal: deps.shutdown,
      again: {
        stored,
        ...(by === undefined ? {} : { by }),
        ...(heedsNo ? { heedsNo } : {}),
        ...(prevents ? { prevents } : {}),
        ...(edits ? { edits } : {}),
      },
      ...(role === 'mcp' && by !== undefined ? { by } : {}),
      ...(lasting ? { lasting } : {}),
    });
  } finally {
    deps.vault.revoke(credential);
  }
}

/** Nothing moves it before what is stored with this is stored. */
async function stillWaits(tx: Tx, id: IncidentId): Promise<boolean> {
  const rows = await tx`SELECT FROM incident WHERE id = ${id} AND state = 'awaiting_approval' FOR UPDATE`;
  return rows.length > 0;
}

class IncidentMoved extends Error {
  constructor() {
    super('The incident has just moved on; look at its thread.');
  }
}
