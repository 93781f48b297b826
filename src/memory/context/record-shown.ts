import type { IncidentId } from '../../core/ids.ts';
import type { Role } from '../../core/incident.ts';
import type { PreparedMemory } from '../../core/memory.ts';
import type { Sql } from '../../core/sql.ts';
import type { Documents } from '../documents/documents.ts';
import type { MemoryAudit, MemoryEvents } from '../documents/ports.ts';

/**
 * What a model was shown, in one transaction: the event that the thread shows, a usage row a memory, an audit entry. A
 * step that runs again after a crash records it once. A later turn that got nothing leaves no trace: nothing was loaded.
 */
export function createRecordShown({
  sql,
  events,
  audit,
  documents,
}: {
  readonly sql: Sql;
  readonly events: MemoryEvents;
  readonly audit: MemoryAudit;
  readonly documents: Pick<Documents, 'recordUsage'>;
}): (incidentId: IncidentId, role: Role, prepared: PreparedMemory) => Promise<void> {
  return async (incidentId, role, { run, turn, tokens, shown, missing }) => {
    if (turn > 1 && shown.length === 0) return;
    const loaded = shown.map(({ id, store, path, version, trust, trusted, tokens: cost }) => {
      return { id, store, path, version, trust, trusted, tokens: cost };
    });
    await sql.begin(async (tx) => {
      const added = await events.append(
        tx,
        incidentId,
        { type: 'memory.context.loaded', role, turn, documents: loaded, tokens, missing },
        `memory:${run}`,
      );
      if (!added) return;
      await documents.recordUsage(
        tx,
        incidentId,
        run,
        shown.map(({ id, version, trust, tokens: cost }) => ({
          documentId: id,
          version,
          trust,
          tokens: cost,
        })),
      );
      await audit.appendIn(tx, {
        kind: 'memory.context.loaded',
        actor: role,
        incidentId,
        details: {
          run,
          turn,
          tokens,
          documents: shown.map(({ id, store, version, trust, trusted }) => ({
            id,
            store,
            version,
            trust,
            trusted,
          })),
        },
      });
    });
  };
}
