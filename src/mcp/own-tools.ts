import { randomUUID } from 'node:crypto';
import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type Refusal, refuse } from '../core/errors.ts';
import { groupTitle } from '../core/group.ts';
import { type IncidentId, parseIncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import type { Json } from '../core/tool-call.ts';
import type { Outsider } from '../incidents/outside-calls.ts';
import { why } from '../incidents/questions/why.ts';
import type { McpDeps } from './ports.ts';

/** What a tool says, before it is screened. */
export interface Said {
  readonly ok: true;
  readonly incidentId: IncidentId | null;
  readonly output: Json;
}

/** A tool of this surface: it reads the record or opens an incident, and touches no system. */
export interface OwnTool<I> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<I>;
  readonly annotations: ToolAnnotations;
  run(deps: McpDeps, caller: Outsider, input: I): Promise<Said | Refusal>;
}

/** More are not looked at for those that a client may read. */
const LOOKED_AT = 500;

const incidentsList: OwnTool<{ readonly open: boolean; readonly limit: number }> = {
  name: 'incidents_list',
  description:
    'Incidents, newest first: id, state, severity, target, title, cause so far and next step. Only those that you may read.',
  input: z.strictObject({
    open: z.boolean().default(false).describe('Only those that have not ended.'),
    limit: z.number().int().min(1).max(50).default(20),
  }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  async run(deps, caller, { open, limit }) {
    const found: Incident[] = [];
    for (const one of await deps.records.list({ limit: LOOKED_AT, open })) {
      if (found.length === limit) break;
      if (await deps.access.mayRead(caller, one)) found.push(one);
    }
    return { ok: true, incidentId: null, output: found.map(summaryOf) };
  },
};

const incidentRead: OwnTool<{ readonly incident: string }> = {
  name: 'incident_read',
  description:
    'Everything on record of one incident as a story: cause, evidence with the ids of its tool calls (evidence_read shows one whole), what was proposed, who decided, how it ended. Times are UTC.',
  input: z.strictObject({ incident: z.string().describe('Like INC-7.') }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  async run(deps, caller, input) {
    const incident = await readableIncident(deps, caller, input.incident);
    if ('ok' in incident) return incident;
    const record = await deps.records.load(incident.id);
    return record
      ? {
          ok: true,
          incidentId: incident.id,
          output: { ...summaryOf(record.incident), story: why(record, { cites: true }).split('\n') },
        }
      : noSuch(incident.id);
  },
};

const incidentOpen: OwnTool<{ readonly text: string }> = {
  name: 'incident_open',
  description:
    'Opens an incident for what somebody has seen, as /sentry investigate does: a thread begins in Slack and Sentry investigates the target that the words name. Tools that read need one.',
  input: z.strictObject({
    text: z.string().min(3).max(2_000).describe('What is wrong, with the name of the system.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async run(deps, caller, { text }) {
    const no = await deps.mayOpen(caller);
    if (no) return no;
    const { principal, user } = caller;
    const opened = await deps.createManualIncident({
      text,
      by: user ?? principal,
      key: `mcp:${randomUUID()}`,
    });
    if (!opened.ok) return opened;
    const { incidentId, target } = opened;
    return { ok: true, incidentId, output: { incident: incidentId, target } };
  },
};

const mutesList: OwnTool<Record<string, never>> = {
  name: 'mutes_list',
  description:
    'What is muted now, by a person or a maintenance window: which alerts wait until when, how many came, and how many incidents of it still fire.',
  input: z.strictObject({}),
  annotations: { readOnlyHint: true, openWorldHint: false },
  async run(deps) {
    return { ok: true, incidentId: null, output: (await deps.mutes()).map((mute) => ({ ...mute })) };
  },
};

// oxlint-disable-next-line typescript/no-explicit-any -- inputs of every type; each parses its own
export const ownTools: readonly OwnTool<any>[] = [incidentsList, incidentRead, incidentOpen, mutesList];

/** Whether there is one that the client may not read is not told. */
export async function readableIncident(
  deps: Pick<McpDeps, 'records' | 'access'>,
  caller: Outsider,
  named: unknown,
): Promise<Incident | Refusal> {
  const id = typeof named === 'string' ? parseIncidentId(named.slice(0, 40)) : undefined;
  if (!id) return refuse('BAD_INPUT', 'incident: expected the id of an incident, like INC-7');
  const incident = await deps.records.incident(id);
  return incident && (await deps.access.mayRead(caller, incident)) ? incident : noSuch(id);
}

const noSuch = (id: IncidentId): Refusal =>
  refuse('UNKNOWN_INCIDENT', `There is no ${id} that you may read.`);

const summaryOf = ({ id, state, severity, target, openedAt, cause, nextStep, ...incident }: Incident) => ({
  incident: id,
  state,
  severity,
  target,
  title: groupTitle(incident),
  opened: openedAt,
  cause,
  next: nextStep,
});
