import type { Tx } from '../../core/sql.ts';

/** Who is said to have spent what the reservation of a call says that was cut off. */
export const CUT_OFF = 'cut off';

/**
 * What a reservation was for has ended: it is reserved no longer. A process that only slept may have been taken for dead, and its call
 * counted at the most that it may have cost; that is taken back. In one transaction with what it really cost, a call counts once.
 */
export async function endReservation(tx: Tx, id: string): Promise<void> {
  // Whoever is just counting it as cut off has its row: the next statement sees what they have booked.
  await tx`DELETE FROM spend_reservation WHERE id = ${id}::uuid`;
  await tx`
    WITH booked AS (
      DELETE FROM usage WHERE reservation = ${id}::uuid AND role = ${CUT_OFF} RETURNING incident_id, cost_usd)
    UPDATE incident i SET cost_usd = greatest(0, i.cost_usd - booked.cost_usd), updated_at = clock_timestamp()
      FROM booked WHERE i.id = booked.incident_id`;
}
