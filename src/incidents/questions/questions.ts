import { type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { Tx } from '../../core/sql.ts';
import type { InvestigationDeps } from '../deps.ts';
import { type NowRead, readableNow, readNow } from './read-now.ts';

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
  /** What one look at the live system could tell now, in words; null: nothing can be read. */
  readable(record: IncidentRecord): string | null;
  /** What the same person asked in that thread within the hour before this message, oldest first: “and who?” goes on from it. */
  before(question: Pick<Question, 'channel' | 'ts' | 'threadTs' | 'by'>): Promise<readonly string[]>;
  /** Only remembers what was asked; the record's answer is all there will be. */
  note(question: Question): Promise<void>;
  /** For the model: puts it on record together with the request for its answer; the same message twice asks once. */
  ask(question: Question): Promise<{ readonly ok: true } | Refusal>;
  /** Ends the answer that is under way in a thread, in whichever process; false: there is none. */
  stop(channel: string, threadTs: string): Promise<boolean>;
  /** The incident that a direct message's thread was last about. */
  lastOf(channel: string, threadTs: string): Promise<IncidentId | null>;
}

const MAX_TEXT = 2_000;
/** So many earlier questions of a thread are gone on from. */
const BEFORE = 4;

export function createQuestions(deps: InvestigationDeps): Questions {
  const { sql, records } = deps;
  const hasModel = deps.claude?.answer !== undefined;

  return {
    hasModel,

    readNow: (record, text) => readNow(deps, record, text),

    readable: (record) => readableNow(deps, record),

    async before({ channel, ts, threadTs, by }) {
      const rows = await sql<{ readonly text: string }>`
        SELECT text FROM question
        WHERE channel = ${channel} AND thread_ts = ${threadTs} AND asked_by = ${by} AND id <> ${`${channel}:${ts}`}
          AND asked_at > clock_timestamp() - interval '1 hour'
        ORDER BY asked_at DESC LIMIT ${BEFORE}`;
      return rows.map(({ text }) => text).toReversed();
    },

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

    async stop(channel, threadTs) {
      const rows = await sql`
        UPDATE question SET state = 'stopped', ended_at = clock_timestamp()
        WHERE channel = ${channel} AND thread_ts = ${threadTs} AND state = 'asked' RETURNING id`;
      return rows.length > 0;
    },

    async lastOf(channel, threadTs) {
      const [row] = await sql<{ incident_id: IncidentId }>`
        SELECT incident_id FROM question WHERE channel = ${channel} AND thread_ts = ${threadTs}
        ORDER BY asked_at DESC LIMIT 1`;
      return row?.incident_id ?? null;
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
}

const idOf = ({ channel, ts }: Question): string => `${channel}:${ts}`;
