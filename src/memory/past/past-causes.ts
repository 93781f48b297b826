import { isDeepStrictEqual } from 'node:util';
import { asIncidentId, type IncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import { isObject } from '../../core/json-of.ts';
import type { PastCause } from '../../core/memory.ts';
import type { Sql } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import { outwardJson, outwardText } from '../../safety/screen/boundary.ts';
import { alike, type Cluster, commandPattern, type PastCase } from './clusters.ts';
import { formatEnds } from './incident-end.ts';

/** What an alert says in words, of now or of then. */
type AlertWords = Pick<Incident, 'title' | 'labels' | 'annotations'>;

/** Arguments that name what was there then: a process, a time, an id in hexadecimal. */
const OF_THEN =
  /"(?:pid|since|until|from|to|at|start|end|backend_start)"\s*:|\d{4}-\d\d-\d\d|\b(?=[0-9a-f]*\d)[0-9a-f]{12,64}\b/i;

/**
 * Of each problem the cause to be checked first, by the newest incident it stands for: the newest that was fixed, else the newest that has
 * one, with the read its first claim stood on. None where no cause is on record, or people said of each that it was wrong.
 */
export async function pastCausesOf(
  sql: Sql,
  incident: Pick<Incident, 'target'> & AlertWords,
  clusters: readonly Cluster[],
): Promise<ReadonlyMap<IncidentId, PastCause>> {
  const leads = clusters.flatMap(({ newest, cases }) => {
    const known = notWrong(cases.filter(hasCause));
    const lead = known.find(({ end }) => end === 'fixed') ?? known[0];
    return lead === undefined ? [] : [[newest.id, lead] as const];
  });
  const reads = await readsOf(
    sql,
    leads.map(([, { id }]) => id),
  );
  return new Map(
    leads.map(([newest, { id, cause, end, target }]) => {
      const read = reads.get(id);
      const isHere = target === incident.target && read !== undefined && fits(read, incident);
      return [
        newest,
        {
          incidentId: id,
          cause: outwardText(cause),
          ended: formatEnds([end]),
          read: read === undefined ? null : { tool: read.tool, input: isHere ? read.input : null },
        },
      ];
    }),
  );
}

type WithCause = PastCase & { readonly cause: string };

const hasCause = (one: PastCase): one is WithCause => one.cause !== null;

/** Without what people said was wrong, and without the same said again, but where that was fixed. */
function notWrong(cases: readonly WithCause[]): readonly WithCause[] {
  const wrong = cases.filter(({ isCauseWrong }) => isCauseWrong);
  return cases.filter(
    (one) =>
      !one.isCauseWrong && (one.end === 'fixed' || !wrong.some(({ cause }) => alike(cause, one.cause))),
  );
}

interface ReadThen {
  readonly tool: string;
  readonly input: Json;
  readonly alert: AlertWords;
}

/** Whether a read of then can be made of what is there now: what it named by the alert's own words, the alert of now names, too. */
function fits({ input, alert }: ReadThen, now: AlertWords): boolean {
  const asked = JSON.stringify(input);
  if (OF_THEN.test(asked) || commandPattern(asked) !== asked) return false;
  // What had to be withheld cannot be asked for.
  if (!isDeepStrictEqual(outwardJson(input), input)) return false;
  return textsIn(input).every((text) => !names(alert, text) || names(now, text));
}

function textsIn(input: Json): readonly string[] {
  if (typeof input === 'string') return input.trim() === '' ? [] : [input.trim()];
  if (Array.isArray(input)) return input.flatMap(textsIn);
  return isObject(input) ? Object.values(input).flatMap(textsIn) : [];
}

/** As a name of its own: `shop` is not named by `shop-api`. */
function names({ title, labels, annotations }: AlertWords, text: string): boolean {
  const name = new RegExp(
    `(?<![\\p{L}\\p{N}_-])${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\p{L}\\p{N}_-])`,
    'iu',
  );
  return [title, ...Object.values(labels), ...Object.values(annotations)].some((words) => name.test(words));
}

/** By the last diagnosis of each incident that found a cause: the first look at its target that a claim cites. */
async function readsOf(sql: Sql, ids: readonly IncidentId[]): Promise<ReadonlyMap<IncidentId, ReadThen>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<ReadThen['alert'] & { id: string; tool: string; input: Json }>`
    SELECT i.id, i.title, i.labels, i.annotations, c.tool, c.input
      FROM (SELECT jsonb_array_elements_text(${sql.json(ids)}) AS id) wanted
      JOIN incident i ON i.id = wanted.id
     CROSS JOIN LATERAL (
       SELECT e.body->'diagnosis' AS diagnosis FROM event e
        WHERE e.incident_id = i.id AND e.type = 'diagnosis.concluded' AND e.body->'diagnosis'->>'verdict' = 'cause_found'
        ORDER BY e.seq DESC LIMIT 1) last
     CROSS JOIN LATERAL (
       SELECT t.tool, t.input
         FROM jsonb_array_elements(last.diagnosis->'evidence') WITH ORDINALITY AS claim (says, n)
        CROSS JOIN LATERAL jsonb_array_elements_text(claim.says->'toolCallIds') AS cited (id)
         JOIN tool_call t ON t.id = cited.id
        WHERE t.incident_id = i.id AND t.target = i.target AND t.state = 'ok' AND t.role = 'detective' AND t.input IS NOT NULL
        ORDER BY claim.n LIMIT 1) c`;
  return new Map(
    rows.map(({ id, tool, input, title, labels, annotations }) => [
      asIncidentId(id),
      { tool, input, alert: { title, labels, annotations } },
    ]),
  );
}
