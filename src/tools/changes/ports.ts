import type { Refusal } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { AskedChanges, ChangesScope, WhatChanged } from '../../core/what-changed.ts';

/** What tools that read changes stand on. */
export interface ChangesPort {
  /** What was changed around an incident; refused when it may not be asked about what is named. */
  whatChanged(incidentId: IncidentId, asked: AskedChanges): Promise<WhatChanged | Refusal>;
  /** Null: there is no such incident. */
  scopeOf(incidentId: IncidentId): Promise<ChangesScope | null>;
}
