import { setMaxListeners } from 'node:events';
import { unlessAborted } from '../../agents/loop/run-tools.ts';
import { messageOf, type Refusal, refuse } from '../../core/errors.ts';
import { asIncidentId, type IncidentId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { SqlRow, Tx } from '../../core/sql.ts';
import type { InvestigationDeps } from '../deps.ts';
import type { AnswerEnd, AnswerPlaces, AnswerView } from '../ports.ts';
import { followUp } from './follow-up.ts';
import { type NowRead, readNow } from './read-now.ts';

/** A question to the model about an incident, and where its answer belongs. */
export interface Question {
  /** Of the message that asks. */
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string;
  /** In a direct message with the bot; else in the incident's thread. */
  readonly direct: boolean;
  readonly incidentId: IncidentId;
  /** Slack user id. */
  readonly by: string;
  readonly text: string;
}

export interface AskedQuestion extends Question {
  readonly id: string;
}

/** What people ask about incidents: the model answers each once, also over restarts, and each message of it is paid for once. */
export interface Questions {
  readonly hasModel: boolean;
  /** For this very moment, by one look; null: another question, or nothing to look at. Without a model. */
  readNow(record: IncidentRecord, text: string): Promise<NowRead | null>;
  /** Only remembers what the conversation is about; the record's answer is all there will be. */
  note(question: Question): Promise<void>;
  /** For the model: puts it on record together with the request for its answer; the same message twice asks once. */
  ask(question: Question): Promise<{ readonly ok: true } | Refusal>;
  /** The durable work of one question. A fault throws: it is asked again; of the last try it is told instead. */
  answer(id: string, durably: Durably, isLast?: boolean): Promise<void>;
  /** Ends the answer that is under way in a thread, in whichever process; false: there is none. */
  stop(channel: string, threadTs: string): Promise<boolean>;
  /** The incident that a direct message's thread was last about. */
  lastOf(channel: string, threadTs: string): Promise<IncidentId | null>;
}

type Durably = <T>(name: string, fn: () => Promise<T>) => Promise<T>;

const MAX_TEXT = 2_000;
/** So many earlier answers of the same thread are given to the model, cut to so many characters each. */
const EARLIER = 4;
const EARLIER_TEXT = 1_500;
/** The fault itself is for the log: its words are of no use to who asked, and screened by nobody. */
const GIVEN_UP: AnswerEnd = { failed: 'something here fails again and again. Please ask again later.' };

export function createQuestions(
  deps: InvestigationDeps & { readonly places: AnswerPlaces },
  why: (record: IncidentRecord) => string,
): Questions {
  const { sql, records, stops } = deps;
  const hasModel = deps.claude?.answer !== undefined;

  return {
    hasModel,

    readNow: (record, text) => readNow(deps, record, text),

    async note(question) {
      await insert(sql, question, 'recorded');
    },

    async ask(question) {
      if (!hasModel) return refuse('NO_MODEL', 'No model is configured.');
      const { incidentId, by, channel, threadTs } = question;
      if ((await records.incident(incidentId)) === null)
        return refuse('UNKNOWN_INCIDENT', `There is no ${incidentId}.`);
      await sql.begin(async (tx) => {
        if (!(await insert(tx, question, 'asked'))) return;
        // What is said in private is nobody else's to read in the incident's story.
        const text = question.direct
          ? '(in a direct message)'
          : deps.redact(question.text).slice(0, MAX_TEXT);
        await records.append(tx, incidentId, { type: 'question.asked', by, text });
        await tx`SELECT sentry_enqueue_question(${idOf(question)}, ${`${channel}:${threadTs}`})`;
      });
      return { ok: true };
    },

    async answer(id, durably, isLast = false) {
      const read = await durably('read', () => load(id));
      if (read === null) return;
      const { question, earlier } = read;
      if (read.ended !== null) return show(durably, deps.places.open(question), read.ended);
      const incident = await durably('incident', () => records.incident(question.incidentId));
      if (incident === null) return;
      const stopped = new AbortController();
      const signal = AbortSignal.any([deps.shutdown, stopped.signal]);
      setMaxListeners(0, signal);
      const view = deps.places.open(question);
      const unwatch = stops.watch(`question:${id}`, () => stopped.abort(new Error('a person stopped it')));
      try {
        const story = await durably('story', async () => {
          const record = await records.load(question.incidentId);
          return record === null ? '' : why(record);
        });
        const { by, text } = question;
        const answered = await followUp(deps, {
          incident,
          question: { by, text, story, earlier },
          ...(question.direct ? { asker: by } : {}),
          onWords: (words, kind) => view.show(words, kind),
          durably,
          signal,
        });
        const end: AnswerEnd = answered.ok ? { text: answered.text } : { failed: answered.reason };
        await durably('on record', () => record(id, end));
        await show(durably, view, end);
      } catch (error) {
        if (deps.shutdown.aborted) throw error;
        if (await durably('stopped', () => isStopped(id)))
          return await show(durably, view, { stopped: true });
        // Else half an answer would stand there for good, as if more were to come.
        if (!isLast || !(await durably('given up', () => record(id, GIVEN_UP)))) throw error;
        deps.log.error({ question: id, error: messageOf(error) }, 'a question stays without an answer');
        await show(durably, view, GIVEN_UP);
      } finally {
        unwatch();
        view.close();
      }
    },

    async stop(channel, threadTs) {
      const ids = await sql.begin(async (tx) => {
        const rows = await tx`
          UPDATE question SET state = 'stopped', ended_at = clock_timestamp()
          WHERE channel = ${channel} AND thread_ts = ${threadTs} AND state = 'asked' RETURNING id`;
        const stopping = rows.map((row) => `question:${String(row['id'])}` as const);
        for (const each of stopping) await stops.tell(tx, each);
        return stopping;
      });
      for (const each of ids) stops.heard(each);
      return ids.length > 0;
    },

    async lastOf(channel, threadTs) {
      const [row] = await sql`
        SELECT incident_id FROM question WHERE channel = ${channel} AND thread_ts = ${threadTs}
        ORDER BY asked_at DESC LIMIT 1`;
      return row ? asIncidentId(String(row['incident_id'])) : null;
    },
  };

  /** False: it is there already. */
  async function insert(tx: Tx, question: Question, state: 'asked' | 'recorded'): Promise<boolean> {
    const { incidentId, by, channel, ts, threadTs, direct } = question;
    const text = deps.redact(question.text).slice(0, MAX_TEXT);
    const rows = await tx`
      INSERT INTO question (id, incident_id, asked_by, text, channel, ts, thread_ts, direct, state)
      VALUES (${idOf(question)}, ${incidentId}, ${by}, ${text}, ${channel}, ${ts}, ${threadTs}, ${direct}, ${state})
      ON CONFLICT (id) DO NOTHING RETURNING 1`;
    return rows.length > 0;
  }

  async function load(id: string) {
    const [row] = await sql`SELECT * FROM question WHERE id = ${id}`;
    if (!row) return null;
    const before = await sql`
      SELECT text, answer FROM question
      WHERE channel = ${row['channel']} AND thread_ts = ${row['thread_ts']} AND incident_id = ${row['incident_id']}
        AND state = 'answered' AND asked_at < ${row['asked_at']}
      ORDER BY asked_at DESC LIMIT ${EARLIER}`;
    const earlier = before.toReversed().map((each) => ({
      question: String(each['text']),
      answer: String(each['answer']).slice(0, EARLIER_TEXT),
    }));
    return { question: toQuestion(row), earlier, ended: endOf(row) };
  }

  /** Slack may be away for long; the end of this process does not wait for it. */
  async function show(durably: Durably, view: AnswerView, end: AnswerEnd): Promise<void> {
    await durably('shown', async () => {
      await unlessAborted(view.end(end), deps.shutdown);
      return true;
    });
  }

  /** False: it had ended otherwise. */
  async function record(id: string, end: AnswerEnd): Promise<boolean> {
    const [state, answer] =
      'text' in end ? ['answered', end.text] : ['refused', 'failed' in end ? end.failed : null];
    const rows = await sql`
      UPDATE question SET state = ${state}, answer = ${answer}, ended_at = clock_timestamp()
      WHERE id = ${id} AND (state = 'asked' OR (state = ${state} AND answer = ${answer})) RETURNING 1`;
    return rows.length > 0;
  }

  async function isStopped(id: string): Promise<boolean> {
    const [row] = await sql`SELECT state FROM question WHERE id = ${id}`;
    return row?.['state'] === 'stopped';
  }
}

/** How it ended, for what could not be shown then; null: it has not, or there is nothing to show. */
function endOf(row: SqlRow): AnswerEnd | null {
  const answer = String(row['answer'] ?? '');
  if (row['state'] === 'answered') return { text: answer };
  if (row['state'] === 'refused') return { failed: answer };
  return row['state'] === 'stopped' ? { stopped: true } : null;
}

const idOf = ({ channel, ts }: Question): string => `${channel}:${ts}`;

function toQuestion(row: SqlRow): AskedQuestion {
  return {
    id: String(row['id']),
    channel: String(row['channel']),
    ts: String(row['ts']),
    threadTs: String(row['thread_ts']),
    direct: row['direct'] === true,
    incidentId: asIncidentId(String(row['incident_id'])),
    by: String(row['asked_by']),
    text: String(row['text']),
  };
}
