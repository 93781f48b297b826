import type { Refusal } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { Log } from '../core/log.ts';
import type { Json } from '../core/tool-call.ts';
import type { summaryOfMute } from '../incidents/mutes/mute.ts';
import type { OutsideCalls, Outsider } from '../incidents/outside-calls.ts';
import type { CreateManualIncident } from '../ingest/create-manual-incident.ts';
import type { ModelGuard } from '../safety/model-guard/model-guard.ts';
import type { AnyTool } from '../tools/define.ts';

/** What the MCP server works on. */
export interface McpDeps {
  readonly version: string;
  /** Those that fit some target as they are configured now, and those without one. */
  readonly tools: () => readonly AnyTool[];
  readonly records: {
    incident(id: IncidentId): Promise<Incident | null>;
    load(id: IncidentId): Promise<IncidentRecord | null>;
    list(options: { readonly limit: number; readonly open?: boolean }): Promise<readonly Incident[]>;
  };
  readonly mutes: () => Promise<ReadonlyArray<ReturnType<typeof summaryOfMute>>>;
  readonly access: {
    /** A client of somebody who has left, or whom Slack does not know, may nothing. */
    mayAct(caller: Outsider): Promise<Refusal | undefined>;
    /** What whoever it works for may read; a client of nobody reads what everybody may. */
    mayRead(caller: Outsider, incident: Pick<Incident, 'id' | 'channel'>): Promise<boolean>;
  };
  readonly calls: OutsideCalls;
  readonly createManualIncident: CreateManualIncident;
  /** A client that opens many incidents keeps people from those that matter. */
  mayOpen(caller: Outsider): Promise<Refusal | undefined>;
  readonly guard: ModelGuard;
  readonly audit: {
    append(entry: {
      readonly kind: string;
      readonly actor: string;
      readonly incidentId?: IncidentId;
      readonly details: Json;
    }): Promise<void>;
  };
  readonly log: Log;
}
