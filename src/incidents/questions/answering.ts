import { setMaxListeners } from 'node:events';
import { unlessAborted } from '../../agents/loop/run-tools.ts';
import { anySignal } from '../../core/any-signal.ts';
import { messageOf } from '../../core/errors.ts';
import { FORGOTTEN } from '../../core/forgotten.ts';
import type { RowOf, Sql } from '../../core/sql.ts';
import type { InvestigationDeps } from '../deps.ts';
import type { AnswerEnd, AnswerPlaces, AnswerView } from '../ports.ts';
import { followUp } from './follow-up.ts';
import type { AskedQuestion } from './questions.ts';
import { why } from './why.ts';

/** The durable work of one question. A fault throws: it is asked again; of the last try it is told instead. */
export type AnswerQuestion = (id: string, durably: Durably, isLast?: boolean) => Promise<void>;

type Durably = <T>(name: string, fn: () => Promise<T>) => Promise<T>;

/** So many earlier answers of the same thread are given to the model, cut to so many characters each. */
const EARLIER = 4;
const EARLIER_TEXT = 1_500;
/** The fault itself is for the log: its words are of no use to who asked, and screened by nobody. */
const GIVEN_UP: AnswerEnd = { failed: 'something here fails again and again. Please ask again later.' };

/** Answers what people have asked, each question once, where they asked it. */
export function createAnswering(deps: InvestigationDeps, places: AnswerPlaces): AnswerQuestion {
  const { sql, records, stops, shutdown } = deps;

  return async (id, durably, isLast = false) => {
    const read = await durably('read', () => load(sql, id));
    if (read === null) return;
    const { question, earlier } = read;
    if (read.ended !== null) return show(durably, places.open(question), read.ended, shutdown);
    const incident = await durably('incident', () => records.incident(question.incidentId));
    if (incident === null) return;
    const stopped = new AbortController();
    const signal = anySignal([shutdown, stopped.signal]);
    setMaxListeners(0, signal);
    const view = places.open(question);
    const unwatch = stops.watch(`question:${id}`, () => stopped.abort(new Error('a person stopped it')));
    try {
      const story = await durably('story', async () => {
        const record = await records.load(question.incidentId);
        return record === null ? '' : why(record, { cites: true });
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
      await durably('on record', () => record(sql, id, end));
      await show(durably, view, end, shutdown);
    } catch (error) {
      if (shutdown.aborted) throw error;
      if (await durably('stopped', () => isStopped(sql, id)))
        return await show(durably, view, { stopped: true }, shutdown);
      // Else half an answer would stand there for good, as if more were to come.
      if (!isLast || !(await durably('given up', () => record(sql, id, GIVEN_UP)))) throw error;
      deps.log.error({ question: id, error: messageOf(error) }, 'a question stays without an answer');
      await show(durably, view, GIVEN_UP, shutdown);
    } finally {
      unwatch();
      view.close();
    }
  };
}

async function load(sql: Sql, id: string) {
  const [row] = await sql<QuestionRow>`SELECT * FROM question WHERE id = ${id}`;
  if (!row) return null;
  const before = await sql<Pick<QuestionRow, 'text' | 'answer'>>`
    SELECT text, answer FROM question
    WHERE channel = ${row.channel} AND thread_ts = ${row.thread_ts} AND incident_id = ${row.incident_id}
      AND state = 'answered' AND asked_at < ${row.asked_at}
    ORDER BY asked_at DESC LIMIT ${EARLIER}`;
  const earlier = before.toReversed().map((each) => ({
    question: each.text,
    answer: (each.answer ?? '').slice(0, EARLIER_TEXT),
  }));
  return { question: toQuestion(row), earlier, ended: endOf(row) };
}

/** Slack may be away for long; the end of this process does not wait for it. */
async function show(
  durably: Durably,
  view: AnswerView,
  end: AnswerEnd,
  shutdown: AbortSignal,
): Promise<void> {
  await durably('shown', async () => {
    await unlessAborted(view.end(end), shutdown);
    return true;
  });
}

/** False: it had ended otherwise. What was forgotten while it was answered gets no words. */
async function record(sql: Sql, id: string, end: AnswerEnd): Promise<boolean> {
  const [state, answer] =
    'text' in end ? ['answered', end.text] : ['refused', 'failed' in end ? end.failed : null];
  const rows = await sql`
    UPDATE question SET state = ${state}, answer = CASE WHEN text <> ${FORGOTTEN} THEN ${answer}::text END, ended_at = clock_timestamp()
    WHERE id = ${id} AND (state = 'asked' OR (state = ${state} AND answer = ${answer})) RETURNING 1`;
  return rows.length > 0;
}

async function isStopped(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql<Pick<QuestionRow, 'state'>>`SELECT state FROM question WHERE id = ${id}`;
  return row?.state === 'stopped';
}

interface QuestionRow extends RowOf<Omit<AskedQuestion, 'by'>> {
  readonly asked_by: string;
  readonly asked_at: string;
  readonly state: 'asked' | 'answered' | 'refused' | 'stopped';
  readonly answer: string | null;
}

/** How it ended, for what could not be shown then; null: it has not, or there is nothing to show. */
function endOf({ state, answer }: QuestionRow): AnswerEnd | null {
  if (state === 'answered') return { text: answer ?? '' };
  if (state === 'refused') return { failed: answer ?? '' };
  return state === 'stopped' ? { stopped: true } : null;
}

function toQuestion(row: QuestionRow): AskedQuestion {
  return {
    id: row.id,
    channel: row.channel,
    ts: row.ts,
    threadTs: row.thread_ts,
    direct: row.direct,
    incidentId: row.incident_id,
    by: row.asked_by,
    text: row.text,
  };
}
