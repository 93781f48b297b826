import type { IncidentId } from './ids.ts';
import type { Incident, Role } from './incident.ts';
import type { Json } from './tool-call.ts';

/** What memory offers an investigation before its first tool call. Advisory: never evidence. */
export interface Recall {
  readonly incidents: readonly RecalledIncident[];
  readonly runbooks: readonly RunbookHit[];
  readonly episodes: RecalledEpisodes;
  /** Absent: nothing that is similar was kept back. */
  readonly heldBack?: HeldBack;
  /** What could not be asked (Chroma down, timed out), for people; null when all answered. */
  readonly missing: string | null;
}

/**
 * Why a past incident that fits is not told: whoever reads the thread may not read of it, or Slack did not tell who may.
 * Nothing of it is told but that there is one.
 */
export type HeldBack = 'may_not' | 'cannot_tell';

/** A problem that was seen before, once or many times; the id and the words are the newest one's. */
export interface RecalledIncident {
  readonly incidentId: IncidentId;
  readonly title: string;
  readonly target: string | null;
  readonly incidentType: string | null;
  readonly severity: string;
  /** Cosine distance, 0–2. */
  readonly distance: number;
  /** When the newest was opened, ISO 8601. */
  readonly storedAt: string;
  /** How many incidents it stands for. */
  readonly times: number;
  /** How they ended, for people: `fixed 9 times; not fixed once`. */
  readonly ended: string;
  /** How often it came, how it ended, what helped, and the newest one's title, type, target, severity and analysis. */
  readonly document: string;
  /** What to check before anything else; absent where no cause is on record. */
  readonly check?: PastCause;
}

/** A past cause as what it is now: an explanation to be tested by the read that showed it then. Never evidence. */
export interface PastCause {
  readonly incidentId: IncidentId;
  readonly cause: string;
  /** How that incident ended, for people: `fixed`. */
  readonly ended: string;
  /** Null: none is on record. `input` null: it does not fit here, as it was of another target, of a process or time of then, or of another object. */
  readonly read: { readonly tool: string; readonly input: Json } | null;
}

/** Begins an explanation that is a past cause: whatever comes behind it is that incident's, and is forgotten with it. */
export const pastCauseTitle = (incidentId: IncidentId): string => `As in ${incidentId}: `;

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

/** An episode that stands for all of its command's, whatever the process ids and times in it. */
export interface SimilarEpisode extends Episode {
  readonly tried?: { readonly helped: number; readonly of: number };
}

export interface RecalledEpisodes {
  /** Newest first among equals; a success is offered first. */
  readonly similar: readonly SimilarEpisode[];
  /**
   * Commands that did not help the last time they were run for an error with at least one keyword in common, and have not helped more
   * often than not.
   */
  readonly failedCommands: readonly string[];
  /** The same as calls, where they are on record. Absent in older recalls. */
  readonly failedActs?: readonly FailedAct[];
}

export interface FailedAct {
  readonly tool: string;
  readonly target: string;
  readonly input: Json;
}

export const EMPTY_RECALL: Recall = {
  incidents: [],
  runbooks: [],
  episodes: { similar: [], failedCommands: [] },
  missing: null,
};

/** Asked before a new user turn of a model. */
export interface MemoryAsk {
  readonly incident: Incident;
  readonly role: Role;
  /** Which turn of the role's history it is for, from 1. The first one asks about the alert, later ones about `text` alone. */
  readonly turn: number;
  /** What the turn says beyond the alert: hints, a diagnosis, what tools have shown. */
  readonly text: string;
  /** Who alone will read what comes of it; absent: everybody in the thread. */
  readonly asker?: string;
  /** Ids of memories that stand in this history already. */
  readonly shown: readonly string[];
}

/** What memory has for a turn: text to append to it, and what stands in the text. */
export interface PreparedMemory {
  /** Names this retrieval on record. */
  readonly run: string;
  readonly turn: number;
  /** Empty when nothing fits. */
  readonly text: string;
  /** Of the text, counted on the safe side. */
  readonly tokens: number;
  readonly shown: readonly ShownMemory[];
  /** What could not be asked, for people; null when all answered. */
  readonly missing: string | null;
}

export interface ShownMemory {
  /** Of a document, a runbook or an incident. */
  readonly id: string;
  /** A memory store, `runbooks-<domain>` or `incidents-<domain>`. */
  readonly store: string;
  readonly path: string;
  readonly title: string;
  /** 0 for what has no versions. */
  readonly version: number;
  readonly trust: string;
  /** Whether it stands in the trusted block. */
  readonly trusted: boolean;
  readonly tokens: number;
}
