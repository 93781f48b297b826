import type { z } from 'zod';
import type { ChangesAround } from '../../changes/read-changes.ts';
import type { RecordChange } from '../../changes/record-change.ts';
import type { Change } from '../../core/change.ts';
import type { Refusal } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Domain, Incident, IncidentFilter } from '../../core/incident.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { Log } from '../../core/log.ts';
import type { Json } from '../../core/tool-call.ts';
import type { CreateManualIncident } from '../../ingest/create-manual-incident.ts';
import type { WatchedState } from '../../ingest/watch-board.ts';
import type { WatchedTarget } from '../../ingest/watch-targets.ts';
import type { SearchWorkspace } from '../../memory/context/search-memories.ts';
import type { MemorySummary } from '../../memory/documents/summary.ts';
import type { ListedEpisode } from '../../memory/episodes/list-episodes.ts';
import type { Promotions } from '../../memory/promotion/promotions.ts';
import type { WorkspaceMemory } from '../../memory/promotion/workspace-memory.ts';
import type { Mutes, Status } from './schemas.ts';

/** What the HTTP API works on. It reads the record, opens incidents, keeps changes it is told of, and touches no system. */
export interface Api {
  readonly status: () => Promise<z.infer<typeof Status>>;
  readonly watchers: () => Promise<{
    readonly logs: readonly WatchedState[];
    readonly targets: readonly WatchedTarget[];
  }>;
  readonly mutes: () => Promise<z.infer<typeof Mutes>>;
  readonly records: {
    load(id: IncidentId): Promise<IncidentRecord | null>;
    incident(id: IncidentId): Promise<Incident | null>;
    incidents(ids: readonly IncidentId[]): Promise<readonly Incident[]>;
    page(
      options: IncidentFilter & { readonly limit: number; readonly before: IncidentId | null },
    ): Promise<{ readonly incidents: readonly Incident[]; readonly next: IncidentId | null }>;
  };
  readonly people: {
    /** Whether everybody of the workspace may read of an incident; `unknown`: Slack cannot say now. */
    isPublic(incident: Pick<Incident, 'id' | 'channel'>): Promise<boolean | 'unknown'>;
    /** Where its thread is; null: nowhere yet, or Slack was not reached yet. */
    threadUrl(incident: Pick<Incident, 'channel' | 'threadTs'>): string | null;
    /** `<@U0123>` as the person's name, where Slack tells it. */
    withNames(text: string): Promise<string>;
  };
  readonly createManualIncident: CreateManualIncident;
  /** A program that opens many incidents keeps people from those that matter. */
  mayOpen(principal: string): Promise<Refusal | undefined>;
  readonly changes: {
    readonly record: RecordChange;
    readonly around: (asked: ChangesAround) => Promise<readonly Change[]>;
  };
  /** It sees workspace memory alone: nobody's own, no conversation's. */
  readonly memory: {
    readonly domains: readonly Domain[];
    readonly search: SearchWorkspace;
    readonly summary: () => Promise<MemorySummary>;
    readonly episodes: (page: {
      readonly limit: number;
      readonly before: number | null;
    }) => Promise<readonly ListedEpisode[]>;
    readonly promotions: Pick<Promotions, 'list' | 'review' | 'decide'>;
    readonly workspace: WorkspaceMemory;
  };
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
