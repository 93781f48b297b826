import type { IncidentId } from '../domain/ids.ts';
import { asIncidentId } from '../domain/ids.ts';
import type { Episode, RecalledEpisodes } from '../domain/memory.ts';
import type { Sql } from '../domain/sql.ts';
import { inverseFrequencies, wordsOf } from './words.ts';

/** Newest first; older ones say little about today's systems. */
const LOOKED_AT = 1_000;
const OFFERED = 5;

export interface NewEpisode {
  readonly incidentId: IncidentId;
  readonly actionId: string;
  readonly error: string;
  readonly diagnosis: string;
  readonly command: string;
  readonly result: string;
  /** By verification, not by exit code; null when it could not tell. */
  readonly success: boolean | null;
}

/** One row an action: a step that runs again after a crash writes it again. */
export async function recordEpisode(sql: Sql, episode: NewEpisode): Promise<void> {
  await sql`
    INSERT INTO episode (incident_id, action_id, error, diagnosis, command, result, success)
    VALUES (${episode.incidentId}, ${episode.actionId}, ${episode.error}, ${episode.diagnosis}, ${episode.command},
            ${episode.result}, ${episode.success})
    ON CONFLICT (action_id) DO UPDATE SET result = EXCLUDED.result, success = EXCLUDED.success,
      diagnosis = EXCLUDED.diagnosis`;
}

/** What was tried for errors like this one, in any incident. */
export async function recallEpisodes(sql: Sql, error: string): Promise<RecalledEpisodes> {
  const rows = await sql<Row>`
    SELECT incident_id, at, error, diagnosis, command, result, success FROM episode ORDER BY at DESC LIMIT ${LOOKED_AT}`;
  return similarEpisodes(rows.map(toEpisode), error);
}

/**
 * Similar: at least two telling words of the error in common, weighed by how rare they are. A success is offered first,
 * then the more similar, then the newer. One word in common is enough to warn of a command that failed.
 *
 * @param episodes newest first
 */
export function similarEpisodes(episodes: readonly Episode[], error: string): RecalledEpisodes {
  const asked = wordsOf(error);
  const texts = episodes.map((episode) => wordsOf(episode.error));
  const weight = inverseFrequencies(texts);
  const judged = episodes.map((episode, i) => {
    const shared = [...asked].filter((word) => texts[i]?.has(word));
    return { episode, shared: shared.length, score: shared.reduce((sum, word) => sum + weight(word), 0) };
  });
  const similar = judged
    .filter(({ shared }) => shared >= 2)
    .toSorted(
      (a, b) => Number(b.episode.success === true) - Number(a.episode.success === true) || b.score - a.score,
    )
    .slice(0, OFFERED)
    .map(({ episode }) => episode);
  const failed = judged.filter(({ episode, shared }) => episode.success === false && shared >= 1);
  return { similar, failedCommands: [...new Set(failed.map(({ episode }) => episode.command))] };
}

interface Row extends Readonly<Record<string, unknown>> {
  readonly incident_id: string | null;
  readonly at: string;
  readonly error: string;
  readonly diagnosis: string;
  readonly command: string;
  readonly result: string;
  readonly success: boolean | null;
}

function toEpisode({ incident_id, at, ...rest }: Row): Episode {
  return { ...rest, incidentId: incident_id === null ? null : asIncidentId(incident_id), timestamp: at };
}
