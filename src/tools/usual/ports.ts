import type { Refusal } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { UsualValues } from '../../core/usual.ts';

/** What the tool that compares now with usual stands on. */
export interface UsualPort {
  /** Of the incident's own target, read now; refused where nothing is kept of it. Throws when it cannot be reached. */
  valuesOf(
    incidentId: IncidentId,
    asked: { readonly number?: string; readonly signal: AbortSignal },
  ): Promise<UsualValues | Refusal>;
}
