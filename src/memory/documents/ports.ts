import type { IncidentEventBody } from '../../core/event.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Tx } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';

/** The incident's record; `IncidentRecords` fits. */
export interface MemoryEvents {
  append(tx: Tx, id: IncidentId, body: IncidentEventBody, dedupeKey?: string): Promise<boolean>;
  /** Whoever says what an investigation goes by may not alone approve what comes of it. */
  addRequester(tx: Tx, id: IncidentId, by: string): Promise<void>;
}

/** The audit log; `AuditLog` fits. */
export interface MemoryAudit {
  appendIn(
    tx: Tx,
    entry: {
      readonly kind: string;
      readonly actor: string;
      readonly incidentId?: string | null | undefined;
      readonly details: Json;
    },
  ): Promise<number>;
}
