import { type Refusal, refuse } from '../../core/errors.ts';
import { FORGOTTEN } from '../../core/forgotten.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Domain } from '../../core/incident.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import { incidentsOf } from '../../search/collections.ts';
import { removeEntriesIn } from '../../search/index/write-entries.ts';
import { spaceOf } from '../../search/types.ts';
import { fileOf } from '../promotion/check-runbook.ts';
import { conventionsStore, runbooksStore } from './document.ts';
import { forgetCopies, ownWords } from './forget-copies.ts';
import type { MemoryAudit } from './ports.ts';

/** How much was removed; what must leave Chroma is queued, and leaves when the bot next reaches it. */
export interface Forgotten {
  readonly ok: true;
  readonly documents: number;
  readonly versions: number;
  readonly episodes: number;
  readonly queuedForChroma: number;
}

interface Deps {
  readonly sql: Sql;
  readonly audit: MemoryAudit;
}

/** Nothing of it is worked on any more, so nothing writes again what is being forgotten. */
const AT_REST = ['ignored', 'resolved', 'reported', 'escalated', 'stopped'];

/**
 * Removes an incident's text: its drafts and what was promoted from them, its episodes, its vector, and the words of its
 * record (alerts, outputs, diagnoses, commands), also where they were copied into others. What stays is that it happened: ids, states, times, who decided, hashes.
 * The audit log keeps its entries, which cannot be changed, and gets one that says what was forgotten, without the text.
 *
 * @returns a refusal while it is being worked on, or when there is none of that id.
 */
export async function forgetIncident(deps: Deps, id: IncidentId, by: string): Promise<Forgotten | Refusal> {
  return deps.sql.begin(async (tx) => {
    const [incident] = await tx<{ state: string; domain: Domain }>`
      SELECT state, domain FROM incident WHERE id = ${id} FOR UPDATE`;
    if (!incident) return refuse('NOT_FOUND', `There is no incident "${id}".`);
    if (!AT_REST.includes(incident.state))
      return refuse(
        'MEMORY_IN_USE',
        `${id} is being worked on and would write it again. Stop it first, or wait.`,
      );
    const documents = await tx<{ id: string }>`
      SELECT DISTINCT d.id FROM memory_document d
      LEFT JOIN memory_source_ref r ON r.document_id = d.id AND r.kind = 'incident'
      WHERE d.incident_id = ${id} OR (r.ref = ${id} AND (d.scope = 'workspace' OR d.doc_type = 'rule_of_thumb'))`;
    const documentIds = documents.map((row) => row.id);
    const own = await ownWords(tx, id, documentIds);
    await tx`DELETE FROM dream_job WHERE incident_id = ${id}`;
    const forgotten = await forgetDocuments(tx, documentIds);
    const episodes = await tx`DELETE FROM episode WHERE incident_id = ${id} RETURNING id`;
    await tx`SELECT memory_outbox_remove(${incidentsOf(incident.domain)}, ${id})`;
    await removeEntriesIn(tx, { kind: 'incident', scope: incident.domain }, [id]);
    await forgetRecord(tx, id);
    await forgetCopies(tx, id, own);
    return finish(tx, deps, by, { incident: id }, { ...forgotten, episodes: episodes.length, vectors: 1 });
  });
}

/**
 * Removes a person's text: their own store, what they wrote into conversations, and their hints, questions and reasons in
 * the records of incidents. That they decided something stays on record, without their words.
 */
export async function forgetUser(deps: Deps, userId: string, by: string): Promise<Forgotten> {
  return deps.sql.begin(async (tx) => {
    const documents = await tx<{ id: string }>`
      SELECT DISTINCT d.id FROM memory_document d JOIN memory_store s ON s.slug = d.store
      LEFT JOIN memory_version v ON v.document_id = d.id
      WHERE s.owner = ${userId} OR (d.scope = 'conversation' AND v.author = ${userId})`;
    const forgotten = await forgetDocuments(
      tx,
      documents.map((row) => row.id),
    );
    await tx`DELETE FROM memory_store WHERE owner = ${userId}`;
    await tx`UPDATE dream_job SET rationale = ${FORGOTTEN} WHERE proposed_by = ${userId}`;
    await tx`UPDATE dream_job SET reason = ${FORGOTTEN} WHERE decided_by = ${userId} AND reason <> ''`;
    // The answer quotes the question.
    await tx`UPDATE question SET text = ${FORGOTTEN}, answer = NULL WHERE asked_by = ${userId}`;
    await tx`UPDATE mute SET reason = ${FORGOTTEN} WHERE by = ${userId} AND reason <> ''`;
    await tx`UPDATE denial SET reason = ${FORGOTTEN} WHERE said_by = ${userId} AND reason <> ''`;
    await tx`UPDATE action SET decision_reason = ${FORGOTTEN} WHERE decided_by = ${userId} AND decision_reason <> ''`;
    await tx`
      UPDATE event SET body = body
        || CASE WHEN body ? 'text' THEN jsonb_build_object('text', ${FORGOTTEN}::text) ELSE '{}' END
        || CASE WHEN body ? 'reason' THEN jsonb_build_object('reason', ${FORGOTTEN}::text) ELSE '{}' END
        || CASE WHEN body ? 'rationale' THEN jsonb_build_object('rationale', ${FORGOTTEN}::text) ELSE '{}' END
      WHERE body->>'by' = ${userId}`;
    await tx`
      UPDATE event SET body = jsonb_set(body, '{parts}', (
        SELECT jsonb_agg(CASE WHEN part->'people' ? ${userId} THEN part || jsonb_build_object('line', ${FORGOTTEN}::text) ELSE part END)
          FROM jsonb_array_elements(body->'parts') part))
      WHERE type = 'context.gathered' AND body @> jsonb_build_object('parts', jsonb_build_array(jsonb_build_object('people', jsonb_build_array(${userId}::text))))`;
    return finish(tx, deps, by, { user: userId }, { ...forgotten, episodes: 0, vectors: 0 });
  });
}

/** Removes every episode and every document but the conventions. Past incidents and runbooks in Chroma stay. */
export async function clearMemory(deps: Deps, by: string): Promise<Forgotten> {
  return deps.sql.begin(async (tx) => {
    const documents = await tx<{ id: string }>`
      SELECT id FROM memory_document WHERE store <> ${conventionsStore}`;
    const forgotten = await forgetDocuments(
      tx,
      documents.map((row) => row.id),
    );
    const episodes = await tx`DELETE FROM episode RETURNING id`;
    return finish(
      tx,
      deps,
      by,
      { everything: true },
      { ...forgotten, episodes: episodes.length, vectors: 0 },
    );
  });
}

async function forgetDocuments(
  tx: Tx,
  ids: readonly string[],
): Promise<{ readonly documents: number; readonly versions: number; readonly chunks: number }> {
  const indexed = await tx<{ name: string; key: string }>`
    SELECT s.name, e.key FROM search_entry e JOIN search_space s ON s.id = e.space_id
     WHERE s.name LIKE 'document:%' AND e.key IN (SELECT jsonb_array_elements_text(${tx.json(ids)}))
        OR s.name LIKE 'runbook:%' AND e.metadata->>'file' IN (SELECT jsonb_array_elements_text(${tx.json(await filesOf(tx, ids))}))
     ORDER BY s.name`;
  for (const { name, key } of indexed) await removeEntriesIn(tx, spaceOf(name), [key]);
  const [row] = await tx<{ versions: number; chunks: number }>`
    SELECT coalesce(sum(chunks), 0)::int AS chunks,
           memory_forget_documents(coalesce(array_agg(id), '{}')) AS versions
    FROM memory_document WHERE id IN (SELECT jsonb_array_elements_text(${tx.json(ids)}))`;
  return { documents: ids.length, versions: row?.versions ?? 0, chunks: row?.chunks ?? 0 };
}

/** What the runbooks among them are called where the playbook's are indexed. */
async function filesOf(tx: Tx, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await tx<{ path: string }>`
    SELECT path FROM memory_document
     WHERE store = ${runbooksStore} AND id IN (SELECT jsonb_array_elements_text(${tx.json(ids)}))`;
  return rows.map(({ path }) => fileOf(path));
}

async function forgetRecord(tx: Tx, id: IncidentId): Promise<void> {
  await tx`
    UPDATE incident SET title = ${FORGOTTEN}, alert_name = NULL, identity = '{}', told = '{}', labels = '{}', annotations = '{}',
      cause = NULL, next_step = NULL, words = NULL, updated_at = clock_timestamp() WHERE id = ${id}`;
  await tx`UPDATE alert SET title = ${FORGOTTEN}, labels = '{}', annotations = '{}', url = NULL WHERE incident_id = ${id}`;
  await tx`UPDATE question SET text = ${FORGOTTEN}, answer = NULL WHERE incident_id = ${id}`;
  await tx`DELETE FROM turn_failure WHERE incident_id = ${id}`;
  await tx`UPDATE escalation_page SET summary = ${FORGOTTEN}, failure = NULL WHERE incident_id = ${id}`;
  await tx`UPDATE criterion_reading SET lines = '{}' WHERE incident_id = ${id}`;
  // The No itself still counts: only its words go.
  await tx`UPDATE denial SET reason = ${FORGOTTEN}, label = ${FORGOTTEN} WHERE incident_id = ${id}`;
  await tx`UPDATE tool_call SET input = NULL, output = ${FORGOTTEN}, result = NULL WHERE incident_id = ${id}`;
  await tx`
    UPDATE action SET input = NULL, guard = NULL, command = ${FORGOTTEN}, why = ${FORGOTTEN}, blast_radius = ${FORGOTTEN},
      preflight = '{}', undo = ${FORGOTTEN}, decision_reason = NULL, outcome = NULL, verify = '{"steps": [], "holdMs": 0, "timeoutMs": 0}',
      objects = '[]'
    WHERE incident_id = ${id} AND state NOT IN ('started', 'unknown')`;
  await tx`DELETE FROM event WHERE incident_id = ${id} AND type NOT IN ('incident.opened', 'state.changed')`;
  await tx`
    UPDATE event SET body = body
      || CASE WHEN body ? 'title' THEN jsonb_build_object('title', ${FORGOTTEN}::text) ELSE '{}' END
      || CASE WHEN body ? 'reason' THEN jsonb_build_object('reason', ${FORGOTTEN}::text) ELSE '{}' END
    WHERE incident_id = ${id}`;
}

async function finish(
  tx: Tx,
  { audit }: Deps,
  by: string,
  what: Readonly<Record<string, string | boolean>>,
  counts: {
    readonly documents: number;
    readonly versions: number;
    readonly chunks: number;
    readonly episodes: number;
    readonly vectors: number;
  },
): Promise<Forgotten> {
  const { documents, versions, episodes } = counts;
  await audit.appendIn(tx, {
    kind: 'memory.forgotten',
    actor: by,
    details: { ...what, documents, versions, episodes },
  });
  return { ok: true, documents, versions, episodes, queuedForChroma: counts.chunks + counts.vectors };
}
