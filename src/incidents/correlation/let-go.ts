import type { IncidentId } from '../../core/ids.ts';
import type { Tx } from '../../core/sql.ts';
import type { IncidentRecords } from '../../record/record.ts';

/** On its own again, in a transaction that has its row. `by` null: what led it is over, or waits. */
export async function letGo(
  tx: Tx,
  { records }: { readonly records: Pick<IncidentRecords, 'append'> },
  [child, lead]: readonly [IncidentId, IncidentId],
  by: string | null,
): Promise<void> {
  await tx`UPDATE incident SET merged_into = NULL WHERE id = ${child}`;
  await records.append(tx, child, { type: 'incident.split', from: lead, by });
  await records.append(tx, lead, { type: 'member.split', incident: child, by });
}
