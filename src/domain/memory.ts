import type { IncidentId } from './ids.ts';

/** What memory offers an investigation before its first tool call. Advisory: never evidence. */
export interface Recall {
  readonly incidents: readonly RecalledIncident[];
  readonly runbooks: readonly RunbookHit[];
  readonly episodes: RecalledEpisodes;
  /** What could not be asked (Chroma down, timed out), for people; null when all answered. */
  readonly missing: string | null;
}

export interface RecalledIncident {
  readonly incidentId: IncidentId;
  readonly title: string;
  readonly target: string | null;
  readonly incidentType: string | null;
  readonly severity: string;
  /** Cosine distance, 0–2. */
  readonly distance: number;
  readonly storedAt: string;
  /** The first 1,500 characters of its analysis, with title, type, target and severity. */
  readonly document: string;
}

export interface RunbookHit {
  readonly runbookId: string;
  readonly title: string;
  /** The trail of headings of the chunk that matched. */
  readonly heading: string;
  readonly text: string;
  /** Higher is better; comparable only within one answer. */
  readonly score: number;
}

/** One executed command and how it ended. `success` null: unknown, neither a success nor a failure. */
export interface Episode {
  readonly incidentId: IncidentId | null;
  readonly timestamp: string;
  readonly error: string;
  readonly diagnosis: string;
  readonly command: string;
  readonly result: string;
  readonly success: boolean | null;
}

export interface RecalledEpisodes {
  /** Newest first among equals; a success is offered first. */
  readonly similar: readonly Episode[];
  /** Commands that failed before for an error with at least one keyword in common. */
  readonly failedCommands: readonly string[];
}

export const EMPTY_RECALL: Recall = {
  incidents: [],
  runbooks: [],
  episodes: { similar: [], failedCommands: [] },
  missing: null,
};
