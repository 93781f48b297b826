import { clipLine } from '../../core/clip.ts';
import { FORGOTTEN } from '../../core/forgotten.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Domain } from '../../core/incident.ts';
import { isObject } from '../../core/json-of.ts';
import { pastCauseTitle } from '../../core/memory.ts';
import type { Tx } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import { removeEntriesIn } from '../../search/index/write-entries.ts';
import { commandPattern } from '../past/clusters.ts';

/** What of a forgotten incident may stand in others; read before it goes. */
export interface OwnWords {
  readonly cause: string | null;
  readonly commands: readonly string[];
  /** Ids and paths of its documents. */
  readonly documents: readonly string[];
}

/** Of a cause and of a command, as memory tells them. */
const [CAUSE, COMMAND] = [240, 200];
/** What is shorter may stand anywhere. */
const LEAST = 12;

export async function ownWords(tx: Tx, id: IncidentId, documentIds: readonly string[]): Promise<OwnWords> {
  const [row] = await tx<OwnWords>`
    SELECT cause,
           (SELECT coalesce(jsonb_agg(DISTINCT e.command), '[]') FROM episode e WHERE e.incident_id = i.id) AS commands,
           (SELECT coalesce(jsonb_agg(d.id) || jsonb_agg(d.path), '[]') FROM memory_document d
             WHERE d.id IN (SELECT jsonb_array_elements_text(${tx.json(documentIds)}))) AS documents
      FROM incident i WHERE i.id = ${id}`;
  return row ?? { cause: null, commands: [], documents: [] };
}

/**
 * Removes its words from the records of other incidents, where code has copied them: what was recalled, what happened the last time, a past
 * cause as an explanation, what memory tools told, and what was answered. What people said of it in their own threads is theirs. Call it
 * once its own episodes are gone: a command that others ran, too, stays.
 */
export async function forgetCopies(tx: Tx, id: IncidentId, own: OwnWords): Promise<void> {
  const named = `\\m${id}\\M`;
  await tx`DELETE FROM slack_answer WHERE ${id} = ANY (incidents)`;
  await tx`UPDATE question SET answer = ${FORGOTTEN} WHERE incident_id IS DISTINCT FROM ${id} AND answer ~ ${named}`;
  await forgetCommands(tx, own.commands);
  await forgetOutputs(tx, id, own);
  const events = await tx<{ seq: string; incident_id: string; type: string; body: Json }>`
    SELECT seq::text AS seq, incident_id, type, body FROM event
     WHERE incident_id <> ${id} AND body::text ~ ${named} AND type IN ('memory.recalled', 'incident.last_time',
       'diagnosis.concluded', 'claim.dropped', 'plan.none', 'incident.summary')`;
  for (const { seq, type, body } of events)
    await tx`UPDATE event SET body = ${tx.json(withoutCopies(type, body, id))} WHERE seq = ${seq}::bigint`;
  // What is shown and found of them is made anew from their records.
  const others = await tx<{ id: string; domain: Domain }>`
    UPDATE incident SET updated_at = clock_timestamp()
     WHERE id IN (SELECT jsonb_array_elements_text(${tx.json(events.map((event) => event.incident_id))})) RETURNING id, domain`;
  for (const domain of [...new Set(others.map((other) => other.domain))].toSorted())
    await removeEntriesIn(
      tx,
      { kind: 'incident', scope: domain },
      others.filter((other) => other.domain === domain).map((other) => other.id),
    );
}

async function forgetCommands(tx: Tx, commands: readonly string[]): Promise<void> {
  if (commands.length === 0) return;
  await tx`
    WITH forgotten AS (
      SELECT c FROM jsonb_array_elements_text(${tx.json(commands)}) AS c
       WHERE NOT EXISTS (SELECT FROM episode e WHERE e.command = c))
    UPDATE event SET body = body || jsonb_build_object(
      'worked', (SELECT coalesce(jsonb_agg(w), '[]') FROM jsonb_array_elements(body->'worked') AS w WHERE w#>>'{}' NOT IN (SELECT c FROM forgotten)),
      'failed', (SELECT coalesce(jsonb_agg(w), '[]') FROM jsonb_array_elements(body->'failed') AS w WHERE w#>>'{}' NOT IN (SELECT c FROM forgotten)))
     WHERE type = 'memory.recalled' AND (body->'worked') || (body->'failed') ?| ARRAY(SELECT c FROM forgotten)`;
}

/** What a memory tool told of it, and what was read of that again. */
async function forgetOutputs(tx: Tx, id: IncidentId, own: OwnWords): Promise<void> {
  const texts = [
    clipLine(own.cause ?? '', CAUSE),
    ...own.commands.map((command) => clipLine(commandPattern(command), COMMAND)),
    ...own.documents,
  ].filter((text) => text.length >= LEAST);
  const calls = await tx<{ id: string }>`
    WITH RECURSIVE told AS (
      SELECT t.id, t.incident_id FROM tool_call t
       WHERE t.incident_id <> ${id} AND starts_with(t.tool, 'memory_') AND (
         t.output ~ ${`\\m${id}\\M`} OR EXISTS (
           SELECT FROM jsonb_array_elements_text(${tx.json(texts)}) AS text
            WHERE strpos(t.output, text) > 0 OR strpos(t.result::text, text) > 0))
      UNION
      SELECT again.id, again.incident_id FROM told JOIN tool_call again ON again.incident_id = told.incident_id
       WHERE again.tool IN ('evidence_read', 'evidence_grep') AND again.result->'sources' ? told.id)
    UPDATE tool_call SET input = NULL, output = ${FORGOTTEN}, result = NULL WHERE id IN (SELECT id FROM told) RETURNING id`;
  await tx`
    UPDATE event SET body = body || jsonb_build_object('summary', ${FORGOTTEN}::text)
     WHERE type = 'tool.called' AND body->>'toolCallId' IN (SELECT jsonb_array_elements_text(${tx.json(calls.map((call) => call.id))}))`;
}

function withoutCopies(type: string, body: Json, id: IncidentId): Json {
  if (!isObject(body)) return body;
  switch (type) {
    case 'memory.recalled':
      return mapped(body as Json, (one) => (one['incidentId'] === id ? { ...one, title: FORGOTTEN } : one));
    case 'incident.last_time':
      if (body['earlier'] !== id) return body as Json;
      return {
        ...(body as object),
        ...(typeof body['fixedBy'] === 'string' ? { fixedBy: FORGOTTEN } : {}),
        ...(body['failed'] === undefined ? {} : { failed: FORGOTTEN }),
        ...(isObject(body['undone'])
          ? { undone: { ...body['undone'], act: FORGOTTEN, says: FORGOTTEN } }
          : {}),
      } as Json;
    case 'diagnosis.concluded':
      return withoutPastCause(body as Json, id);
    default:
      return withoutNaming(body as Json, id);
  }
}

/** A model's text that names it tells of it; the playbook's own are told apart by how they begin. */
function withoutPastCause(body: Json, id: IncidentId): Json {
  const { diagnosis } = body as { readonly diagnosis?: { readonly origin?: string } };
  if (diagnosis?.origin === 'model') return withoutNaming(body, id);
  const title = pastCauseTitle(id);
  return mapped(body, (one) =>
    typeof one['cause'] === 'string' && one['cause'].startsWith(title)
      ? { ...one, cause: `${title}${FORGOTTEN}` }
      : one,
  );
}

function withoutNaming(value: Json, id: IncidentId): Json {
  const named = new RegExp(`(?<![\\w-])${id}(?![\\w-])`);
  if (typeof value === 'string') return value !== id && named.test(value) ? FORGOTTEN : value;
  if (Array.isArray(value)) return value.map((item: Json) => withoutNaming(item, id));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withoutNaming(item as Json, id)]),
  );
}

type Fields = { readonly [key: string]: Json };

/** Every object in a value by what `change` makes of it. */
function mapped(value: Json, change: (one: Fields) => Fields): Json {
  if (Array.isArray(value)) return value.map((item: Json) => mapped(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(change(value as Fields)).map(([key, item]) => [key, mapped(item, change)]),
  );
}
