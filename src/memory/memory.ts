import { messageOf } from '../core/errors.ts';
import { FORGOTTEN } from '../core/forgotten.ts';
import type { Domain, Incident } from '../core/incident.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { Log } from '../core/log.ts';
import { EMPTY_RECALL, type Recall } from '../core/memory.ts';
import type { Sql } from '../core/sql.ts';
import { within } from '../core/within.ts';
import type { Runbook } from '../runbooks/runbook.ts';
import { recallFromFiles } from '../runbooks/runbook-files.ts';
import { incidentsOf } from '../search/collections.ts';
import { createDistanceCuts } from '../search/distance/distance-cuts.ts';
import type { Embedder, VectorStore } from '../search/ports.ts';
import type { Retrieval } from '../search/retrieval.ts';
import type { Audiences } from './audiences.ts';
import type { FindDeps } from './context/find-memories.ts';
import { type NewEpisode, recallEpisodes, recordEpisode } from './episodes/episodes.ts';
import { createOutbox } from './outbox.ts';
import { incidentDocument } from './past/incident-document.ts';
import { recallIncidents } from './past/recall-incidents.ts';
import { RECALLED_RUNBOOKS, recallRunbooks } from './recall-runbooks.ts';
import { type Seeded, type SeedOptions, seedRunbooks } from './sync/seed-runbooks.ts';
import { incidentEntry } from './sync/sync-incidents.ts';
import { syncRunbooks } from './sync/sync-runbooks.ts';
import { systemOf } from './systems/systems.ts';

/** Memory advises: an investigation waits for it this long and not longer. */
const RECALL_LIMIT_MS = 2_000;
/** The share of it for nearness in meaning: then words still answer in time. */
const MEANING_SHARE = 0.6;
const FLUSH_EVERY_MS = 15_000;
const SEED_AGAIN_MS = 10_000;

/** `incomplete`: a file has a problem and its runbook is missing from what is given: nothing is removed. */
export type FilesSeen = Pick<SeedOptions, 'incomplete'>;

export interface Memory {
  /** Never throws and never takes longer than 2 s; says in `missing` what did not answer. */
  recall(incident: Incident, incidentType?: string | null): Promise<Recall>;
  /** Returns once the document is durable (its outbox row), and has been tried for at most 8 s. Ignored ones are not stored. */
  rememberIncident(record: IncidentRecord): Promise<void>;
  recordEpisode(episode: NewEpisode): Promise<void>;
  /** Makes the runbook collections say what the files say. @throws OpsError CHROMA_*, EMBEDDINGS_FAILED */
  seedRunbooks(runbooks: readonly Runbook[], options?: FilesSeen): Promise<Seeded>;
  /** Tries again what has not reached Chroma; returns how many landed. */
  flushOutbox(): Promise<number>;
  /** Seeds in the background until it has succeeded, and flushes the outbox from time to time. */
  start(runbooks: readonly Runbook[], options?: FilesSeen): void;
  stop(): Promise<void>;
}

export interface MemoryDeps {
  readonly sql: Sql;
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
  readonly retrieval: Pick<Retrieval, 'search' | 'upsert' | 'list' | 'remove'>;
  readonly documents: FindDeps['documents'];
  /** Who may read of which past incident. */
  readonly audiences: Audiences;
  /** The runbooks as they are known now, from files and promoted: what is recalled when memory does not answer. */
  readonly runbooks: () => readonly Runbook[];
  /** Each has runbooks of its own in Chroma. */
  readonly domains: readonly Domain[];
  /** MEMORY_ENABLED: when false nothing is recalled, and nothing written to Chroma; episodes are still recorded. */
  readonly enabled: boolean;
  readonly log: Log;
  readonly recallLimitMs?: number;
}

export function createMemory(deps: MemoryDeps): Memory {
  const { sql, enabled, log } = deps;
  const limitMs = deps.recallLimitMs ?? RECALL_LIMIT_MS;
  const outbox = createOutbox(deps);
  const cuts = createDistanceCuts(deps);
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<unknown>>();
  let stopped = false;

  const memory: Memory = {
    async recall(incident, incidentType = incident.incidentType) {
      if (!enabled) return EMPTY_RECALL;
      const missing: string[] = [];
      const ask = async <T>(what: string, none: T, asking: () => Promise<T>): Promise<T> => {
        try {
          return await within(limitMs, asking());
        } catch (error) {
          log.warn({ incident: incident.id, what, error: messageOf(error) }, 'memory did not answer');
          missing.push(what);
          return none;
        }
      };
      const system = await ask('the system', null, () => systemOf(sql, incident.target));
      const [past, runbooks, episodes] = await Promise.all([
        ask('past incidents', { incidents: [], heldBack: null }, () =>
          recallIncidents({ ...deps, cuts }, incident, incidentType, limitMs, system),
        ),
        ask('runbooks', [], () =>
          recallRunbooks(deps, incident, incidentType, MEANING_SHARE * limitMs, system),
        ),
        ask('what was tried before', { similar: [], failedCommands: [] }, () =>
          recallEpisodes(deps, incident.id, errorText(incident, incidentType), system),
        ),
      ]);
      return {
        incidents: past.incidents,
        ...(past.heldBack === null ? {} : { heldBack: past.heldBack }),
        runbooks:
          runbooks.length > 0
            ? runbooks
            : recallFromFiles(deps.runbooks(), incident, incidentType, RECALLED_RUNBOOKS),
        episodes,
        missing: missing.length === 0 ? null : `Memory did not answer about ${missing.join(', ')}.`,
      };
    },

    async rememberIncident(record) {
      if (!enabled || record.incident.state === 'ignored') return;
      // What was read of it before it was forgotten is written by nobody any more.
      const [kept] = await sql`
        SELECT FROM incident WHERE id = ${record.incident.id} AND NOT sentry_is_test(id)
           AND (title <> ${FORGOTTEN} OR ${record.incident.title} = ${FORGOTTEN})`;
      if (!kept) return;
      const system = await systemOf(sql, record.incident.target);
      const { document, metadata } = incidentDocument(record, new Date(), system);
      const collection = incidentsOf(record.incident.domain);
      // Findable by its words at once; what fails here is put there by the next round of the index's keeper.
      await deps.retrieval
        .upsert({ kind: 'incident', scope: record.incident.domain }, [incidentEntry(record, system)])
        .catch((error: unknown) => log.warn({ error: messageOf(error) }, 'an incident was not indexed yet'));
      await outbox.write({ collection, id: record.incident.id, document, metadata });
    },

    recordEpisode: (episode) => recordEpisode(sql, episode),
    async seedRunbooks(runbooks, seen = {}) {
      if (!enabled) return { added: 0, changed: 0, removed: 0, unchanged: 0 };
      // By words first: the vector database may be away, and embedding takes its time.
      for (const domain of deps.domains) await syncRunbooks(deps.retrieval, domain, runbooks, seen);
      return seedRunbooks(deps, runbooks, seen);
    },
    flushOutbox: async () => (enabled ? outbox.flush() : 0),

    start(runbooks, seen = {}) {
      if (!enabled) return;
      background(() => seedUntilDone(runbooks, seen));
      const timer = setInterval(() => background(flushQuietly), FLUSH_EVERY_MS);
      timers.add(timer);
      background(flushQuietly);
    },

    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await deps.embedder.close();
      await Promise.allSettled(running);
    },
  };
  return memory;

  function background(work: () => Promise<unknown>): void {
    const one = work().finally(() => running.delete(one));
    running.add(one);
  }

  async function seedUntilDone(runbooks: readonly Runbook[], seen: FilesSeen): Promise<void> {
    try {
      const seeded = await memory.seedRunbooks(runbooks, seen);
      log.info({ ...seeded }, 'runbooks are in memory');
    } catch (error) {
      if (stopped) return;
      log.warn({ error: messageOf(error) }, 'runbooks could not be put into memory; tried again');
      const timer = setTimeout(() => {
        timers.delete(timer);
        background(() => seedUntilDone(runbooks, seen));
      }, SEED_AGAIN_MS);
      timers.add(timer);
    }
  }

  async function flushQuietly(): Promise<void> {
    try {
      await memory.flushOutbox();
    } catch (error) {
      if (!stopped) log.warn({ error: messageOf(error) }, 'the outbox of memory could not be read');
    }
  }
}

/** What an episode's error is compared with. */
function errorText(incident: Incident, incidentType: string | null): string {
  const { title, annotations, cause } = incident;
  return [incidentType, title, annotations['summary'], annotations['description'], cause]
    .filter(Boolean)
    .join(' ');
}
