import type { IncidentId } from '../../core/ids.ts';
import { asIncidentId } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Episode, FailedAct, RecalledEpisodes, SimilarEpisode } from '../../core/memory.ts';
import type { Sql } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import { outwardText } from '../../safety/screen/boundary.ts';
import { distinctiveWords, inverseFrequencies } from '../../search/text/distinctive-words.ts';
import { type Audiences, toldOf } from '../audiences.ts';
import { commandPattern } from '../past/clusters.ts';
import { readFacts, type SystemFacts, systemMismatch } from '../systems/system-facts.ts';

/** Newest first; older ones say little about today's systems. */
const LOOKED_AT = 1_000;
const OFFERED = 5;
/** Of its likeness, what an episode loses when it happened on an entirely different system. */
const OTHER_SYSTEM = 0.5;

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

/** One row an action: a step that runs again after a crash writes it again. What it says is recalled, shown and exported. */
export async function recordEpisode(sql: Sql, episode: NewEpisode): Promise<void> {
  const [error, diagnosis, command, result] = [
    episode.error,
    episode.diagnosis,
    episode.command,
    episode.result,
  ].map(outwardText);
  await sql`
    INSERT INTO episode (incident_id, action_id, error, diagnosis, command, result, success, target, system)
    SELECT ${episode.incidentId}, ${episode.actionId}, ${error}, ${diagnosis}, ${command}, ${result},
           ${episode.success}::boolean, i.target, t.facts
      FROM (SELECT) one LEFT JOIN incident i ON i.id = ${episode.incidentId}
      LEFT JOIN target_system t ON t.target = i.target
    ON CONFLICT (action_id) DO UPDATE SET result = EXCLUDED.result, success = EXCLUDED.success,
      diagnosis = EXCLUDED.diagnosis`;
}

/**
 * What was tried for errors like this one, in incidents of which may be told in the thread of `here`; archived episodes are
 * not looked at.
 */
export async function recallEpisodes(
  deps: { readonly sql: Sql; readonly audiences: Audiences; readonly log: Log },
  here: IncidentId,
  error: string,
  system: SystemFacts | null = null,
): Promise<RecalledEpisodes> {
  const { sql } = deps;
  const rows = await sql<Row>`
    SELECT e.incident_id, e.at, e.error, e.diagnosis, e.command, e.result, e.success, e.system, e.target, a.tool, a.input
      FROM (SELECT * FROM episode WHERE archived_at IS NULL ORDER BY at DESC LIMIT ${LOOKED_AT}) e
      LEFT JOIN action a ON a.id = e.action_id AND NOT e.success
     ORDER BY e.at DESC`;
  const episodes = rows.map(toEpisode);
  const asked = distinctiveWords(error);
  const akin = episodes.flatMap(({ incidentId, error: before }) =>
    incidentId !== null && [...distinctiveWords(before)].some((word) => asked.has(word)) ? [incidentId] : [],
  );
  const told = await toldOf(deps, here, [...new Set(akin.filter((id) => id !== here))]);
  const mayTell = ({ incidentId }: Episode): boolean =>
    incidentId === here || (incidentId !== null && told.ids.has(incidentId));
  return similarEpisodes(episodes.filter(mayTell), error, system);
}

/** Archives episodes older than so many days: still counted and exported, no longer looked up. Returns how many. */
export async function archiveEpisodes(sql: Sql, olderThanDays: number): Promise<number> {
  const rows = await sql`
    UPDATE episode SET archived_at = clock_timestamp()
     WHERE archived_at IS NULL AND at < statement_timestamp() - ${olderThanDays} * interval '1 day' RETURNING id`;
  return rows.length;
}

/** An episode with what is on record of it beside. */
interface KeptEpisode extends Episode {
  readonly system?: SystemFacts | null;
  readonly target?: string | null;
  /** Of what failed, the call itself. */
  readonly act?: FailedAct | null;
}

/**
 * Similar: at least two telling words of the error in common, weighed by how rare they are. A success is offered first,
 * then the more similar (less so where it happened on another system), then the newer. One word in common is enough to warn
 * of a command that did not help the last time.
 *
 * @param episodes newest first
 * @param system what the target runs now
 */
export function similarEpisodes(
  episodes: readonly KeptEpisode[],
  error: string,
  system: SystemFacts | null = null,
): RecalledEpisodes {
  const asked = distinctiveWords(error);
  const texts = episodes.map((episode) => distinctiveWords(episode.error));
  const weight = inverseFrequencies(texts);
  const judged = episodes.map((episode, i) => {
    const shared = [...asked].filter((word) => texts[i]?.has(word));
    const alike = shared.reduce((sum, word) => sum + weight(word), 0);
    const other = systemMismatch(system, episode.system ?? null);
    return { episode, shared: shared.length, score: alike * (1 - OTHER_SYSTEM * other) };
  });
  const similar = judged
    .filter(({ shared }) => shared >= 2)
    .toSorted(
      (a, b) => Number(b.episode.success === true) - Number(a.episode.success === true) || b.score - a.score,
    )
    .map(({ episode }) => withoutSystem(episode));
  const failed = failedLast(judged.filter(({ shared }) => shared >= 1).map(({ episode }) => episode));
  return {
    similar: onceEach(similar).slice(0, OFFERED),
    failedCommands: [...new Set(failed.map(({ command }) => command))],
    failedActs: failed.flatMap(({ act }) => act ?? []),
  };
}

/**
 * The newest of each command on a target, where it did not help the last time and has not helped more often than not: what helped since is
 * no warning, and neither is the one failure of what nearly always helps.
 */
function failedLast(episodes: readonly KeptEpisode[]): readonly KeptEpisode[] {
  const judged = new Map<string, KeptEpisode[]>();
  for (const episode of episodes.filter(({ success }) => success !== null)) {
    const key = JSON.stringify([episode.target ?? null, commandPattern(episode.command)]);
    judged.set(key, [...(judged.get(key) ?? []), episode]);
  }
  return [...judged.values()].flatMap((same) => {
    const [last] = same;
    const helped = same.filter(({ success }) => success === true).length;
    return last?.success === false && 2 * helped <= same.length ? [last] : [];
  });
}

/** The best of each command, whatever the process ids and times in it, with how often it was run and how often it helped. */
function onceEach(episodes: readonly Episode[]): readonly SimilarEpisode[] {
  const byCommand = new Map<string, Episode[]>();
  for (const episode of episodes) {
    const command = commandPattern(episode.command);
    byCommand.set(command, [...(byCommand.get(command) ?? []), episode]);
  }
  return [...byCommand.values()].flatMap((same) => {
    const [best] = same;
    if (best === undefined) return [];
    const helped = same.filter(({ success }) => success === true).length;
    return [same.length === 1 ? best : { ...best, tried: { helped, of: same.length } }];
  });
}

function withoutSystem(given: Episode): Episode {
  const { incidentId, timestamp, error, diagnosis, command, result, success } = given;
  return { incidentId, timestamp, error, diagnosis, command, result, success };
}

interface Row extends Readonly<Record<string, unknown>> {
  readonly incident_id: string | null;
  readonly at: string;
  readonly error: string;
  readonly diagnosis: string;
  readonly command: string;
  readonly result: string;
  readonly success: boolean | null;
  readonly system: unknown;
  readonly tool: string | null;
  readonly target: string | null;
  readonly input: Json;
}

function toEpisode({ incident_id, at, system, tool, target, input, ...rest }: Row): KeptEpisode {
  const incidentId = incident_id === null ? null : asIncidentId(incident_id);
  // Of a forgotten incident the input is gone.
  const act = tool === null || target === null || input === null ? null : { tool, target, input };
  return { ...rest, incidentId, timestamp: at, system: readFacts(system), target, act };
}
