import type { IncidentId } from '../../core/ids.ts';
import type { Steered } from '../steering.ts';

/** Incidents of one problem: one leads and is looked into, the others rest under it. */
export interface Correlation {
  /** Has those of them rest that are a part of another, lets go on what need not any more, and answers which rest. */
  hold(ids: readonly IncidentId[]): Promise<ReadonlySet<IncidentId>>;
  /** It goes on by itself, and is not put under the same one again unless a person does. */
  split(id: IncidentId, by: string): Promise<Steered>;
  /** It rests under the other, because a person says so. */
  merge(id: IncidentId, into: IncidentId, by: string): Promise<Steered>;
}
