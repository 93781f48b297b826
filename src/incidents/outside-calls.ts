import { anySignal } from '../core/any-signal.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Json, ToolCallRequest, ToolCallResult } from '../core/tool-call.ts';
import { addRequester } from '../record/record.ts';
import { askForApproval, atWork, waitsForPeople } from './ask-for-approval.ts';
import type { InvestigationDeps } from './deps.ts';

/** A client outside of Sentry that calls tools in an incident. */
export interface Outsider {
  /** `mcp:<name>`: who has called, on record. */
  readonly principal: string;
  /** The Slack user it works for; null: nobody in particular. */
  readonly user: string | null;
}

/** A call in one incident, of its target: whoever is outside names neither a system nor another incident. */
export interface OutsideCall {
  readonly incidentId: IncidentId;
  readonly tool: string;
  readonly input: Json;
}

/** What a client outside of Sentry has the gate do. Whether it may read of the incident is asked before. */
export interface OutsideCalls {
  read(by: Outsider, call: OutsideCall, signal: AbortSignal): Promise<ToolCallResult | Refusal>;
  /**
   * Asks people for it, on a card in the incident's thread; runs nothing. Neither the client nor whom it works for may
   * approve alone what needs somebody else.
   */
  propose(by: Outsider, call: OutsideCall & { readonly why: string }): Promise<ToolCallResult | Refusal>;
}

export function createOutsideCalls(deps: InvestigationDeps): OutsideCalls {
  return {
    read: (by, call, signal) => read(deps, by, call, signal),
    propose: (by, call) => propose(deps, by, call),
  };
}

async function read(
  deps: InvestigationDeps,
  { principal }: Outsider,
  { incidentId, tool, input }: OutsideCall,
  signal: AbortSignal,
): Promise<ToolCallResult | Refusal> {
  const incident = await deps.records.incident(incidentId);
  if (!incident) return unknown(incidentId);
  const { target } = incident;
  const credential = deps.vault.mint({
    role: 'mcp',
    incidentId,
    targets: target === null ? [] : [target],
    tools: [tool],
  });
  try {
    return await deps.gate.call(
      credential,
      { tool, target, input },
      {
        purpose: `${principal} asks`,
        by: principal,
        signal: anySignal([deps.shutdown, signal]),
      },
    );
  } finally {
    deps.vault.revoke(credential);
  }
}

async function propose(
  deps: InvestigationDeps,
  by: Outsider,
  { incidentId, tool, input, why }: OutsideCall & { readonly why: string },
): Promise<ToolCallResult | Refusal> {
  const incident = await deps.records.incident(incidentId);
  if (!incident) return unknown(incidentId);
  const { target } = incident;
  if (target === null)
    return refuse('NO_TARGET', `${incidentId} has no configured target, so there is nothing to act on.`);
  if (!waitsForPeople(incident)) return atWork(incident);
  const { principal } = by;
  // Its own words are no runbook's, and it writes no criterion: what judges the fix is the diagnosis's.
  const proposal: ToolCallRequest['proposal'] = { why, runbookId: null, verify: null };
  return askForApproval(deps, incident, {
    role: 'mcp',
    request: { tool, target, input, proposal },
    purpose: `${principal} proposes`,
    by: principal,
    heedsNo: true,
    reason: `${principal} proposes a fix.`,
    nextStep: 'Waiting for somebody to approve what was proposed over MCP.',
    async also(tx) {
      for (const requester of [principal, ...(by.user === null ? [] : [by.user])])
        await addRequester(tx, incidentId, requester);
    },
  });
}

const unknown = (id: IncidentId): Refusal => refuse('UNKNOWN_INCIDENT', `There is no ${id}.`);
