import type { Sql } from '../../core/sql.ts';

/** What was tried and how it ended, in the seed's shape. `success` null: nobody can tell. */
export interface ListedEpisode {
  readonly id: number;
  readonly timestamp: string;
  readonly incident: string | null;
  readonly error: string;
  readonly diagnosis: string;
  readonly command: string;
  readonly result: string;
  readonly success: boolean | null;
}

/** Newest first; `before`: the id of the last one seen. */
export async function listEpisodes(
  sql: Sql,
  { limit, before }: { readonly limit: number; readonly before: number | null },
): Promise<readonly ListedEpisode[]> {
  return sql<ListedEpisode>`
    SELECT id, at AS timestamp, incident_id AS incident, error, diagnosis, command, result, success
    FROM episode WHERE id < coalesce(${before}::bigint, 9223372036854775807) ORDER BY id DESC LIMIT ${limit}`;
}
