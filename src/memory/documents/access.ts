import type { IncidentId } from '../../core/ids.ts';
import type { MemoryScope } from './document.ts';

/** Who reads. Whoever makes one has established that it is true; nothing here asks again. */
export type Reader =
  /**
   * A role at work in an incident. `userId` is who asked for this turn: their own store may be used for the answer; null
   * for a turn that nobody asked for.
   */
  | { readonly kind: 'agent'; readonly incidentId: IncidentId; readonly userId: string | null }
  /** A person, with the incidents they take part in: who posted in the thread, and the members of its channel. */
  | { readonly kind: 'person'; readonly userId: string; readonly incidents: readonly IncidentId[] }
  /** At the shell of the machine, where the whole database can be read anyway: export, summary. */
  | { readonly kind: 'operator' };

/** What a document's readers are judged by. */
export interface Readable {
  readonly scope: MemoryScope;
  readonly owner: string | null;
  readonly incidentId: IncidentId | null;
}

/** What somebody may read, as data for a query: workspace stores always, and these. `all`: everything. */
export interface Reach {
  readonly all: boolean;
  readonly owners: readonly string[];
  readonly incidents: readonly IncidentId[];
}

export function reachOf(reader: Reader): Reach {
  switch (reader.kind) {
    case 'agent':
      return {
        all: false,
        owners: reader.userId === null ? [] : [reader.userId],
        incidents: [reader.incidentId],
      };
    case 'person':
      return { all: false, owners: [reader.userId], incidents: reader.incidents };
    case 'operator':
      return { all: true, owners: [], incidents: [] };
  }
}

/**
 * The one rule of who reads what (seed 002): workspace stores everybody, a user store its owner, a conversation who takes
 * part in it. Every read of memory documents ends here, also those that have asked the database by `reachOf` already.
 */
export function mayRead(reader: Reader, { scope, owner, incidentId }: Readable): boolean {
  const { all, owners, incidents } = reachOf(reader);
  if (all) return true;
  switch (scope) {
    case 'workspace':
      return true;
    case 'user':
      return owner !== null && owners.includes(owner);
    case 'conversation':
      return incidentId !== null && incidents.includes(incidentId);
    default:
      // A scope of a newer version's: unknown is not readable.
      return false;
  }
}
