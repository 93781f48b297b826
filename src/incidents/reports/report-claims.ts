import type { IncidentId } from '../../core/ids.ts';
import type { Sql } from '../../core/sql.ts';
import type { IncidentRecords } from '../../record/record.ts';

/** Where a report stands. */
export type ReportPlace = 'canvas' | 'file' | 'thread';

export type ReportClaim =
  /** Whoever is told this makes it, and nobody else ever does. */
  | { readonly kind: 'yours' }
  | { readonly kind: 'made'; readonly at: string; readonly place: ReportPlace; readonly url: string }
  /** Somebody began it, and it is not on record that it stands: it may or may not. */
  | { readonly kind: 'begun'; readonly at: string; readonly by: string };

/** That one post-incident report is made of an incident, over presses, processes and crashes. */
export interface ReportClaims {
  claim(id: IncidentId, by: string): Promise<ReportClaim>;
  made(
    id: IncidentId,
    made: { readonly by: string; readonly place: ReportPlace; readonly url: string },
  ): Promise<void>;
}

export const createReportClaims = (
  sql: Sql,
  records: Pick<IncidentRecords, 'append' | 'load'>,
): ReportClaims => ({
  async claim(id, by) {
    if (await sql.begin((tx) => records.append(tx, id, { type: 'report.asked', by }, 'report.asked')))
      return { kind: 'yours' };
    const events = (await records.load(id))?.events ?? [];
    const made = events.findLast((event) => event.type === 'report.made');
    if (made?.type === 'report.made') return { kind: 'made', at: made.at, place: made.place, url: made.url };
    const asked = events.findLast((event) => event.type === 'report.asked');
    if (asked?.type === 'report.asked') return { kind: 'begun', at: asked.at, by: asked.by };
    throw new Error(`${id}: a report was asked for, and it is not on record`);
  },
  async made(id, made) {
    await sql.begin((tx) => records.append(tx, id, { type: 'report.made', ...made }, 'report.made'));
  },
});
