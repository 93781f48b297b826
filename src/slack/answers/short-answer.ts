import type { IncidentRecord } from '../../domain/incident-record.ts';
import type { Line, Piece } from '../../record/questions/answer-lines.ts';
import { answerFromRecord, stateLines } from '../../record/questions/record-answer.ts';
import { readableBy } from '../access.ts';
import { code, moment, paragraph, prose, type Span, words } from '../blocks/build.ts';
import type { SlackContext } from '../context.ts';
import type { Say } from '../tell.ts';

/** Who reads an answer: one person alone, or a channel's members, to whom other channels' incidents are not told. */
export interface Readers {
  readonly userId: string;
  readonly channel: string;
  readonly alone: boolean;
}

/** What the record alone answers, in three lines at most; null: it does not, and somebody else has to. */
export async function shortAnswer(
  context: SlackContext,
  record: IncidentRecord,
  text: string,
  readers: Readers,
): Promise<Say | null> {
  const { approvers } = await context.drawOptions(record);
  const lines = answerFromRecord(record, text, {
    approvers: approvers ?? null,
    open: await openFor(context, readers),
    now: new Date(),
    elsewhere: context.deps.questions?.hasModel === true,
  });
  return lines === null ? null : sayLines(context, lines);
}

/** How an incident stands: for who only calls. */
export async function shortState(context: SlackContext, record: IncidentRecord): Promise<Say> {
  const [state = [], next] = stateLines(record);
  return sayLines(context, [[`${record.incident.id}: `, ...state], ...(next ? [next] : [])]);
}

/** What needs a model, where none is asked. */
export function onlyTheRecord(hasModel: boolean): string {
  const why = hasModel ? 'for you' : 'without a model key';
  return `I can only answer from the record ${why}: ask who approved, what ran, what is it now … or /sentry why for all of it.`;
}

async function openFor(context: SlackContext, { userId, channel, alone }: Readers) {
  const open = await context.deps.records.list({ limit: 50, open: true });
  return alone
    ? readableBy(context, userId, null, open)
    : open.filter((incident) => incident.channel === channel);
}

/** People by name, so that nobody is rung; times in the reader's own zone. */
async function sayLines(context: SlackContext, lines: readonly Line[]): Promise<Say> {
  const spans: Span[] = [];
  let text = '';
  for (const [n, line] of lines.entries()) {
    if (n > 0) {
      spans.push(words('\n'));
      text += '\n';
    }
    for (const piece of line) {
      const drawn = await draw(context, piece);
      spans.push(drawn.span);
      text += drawn.text;
    }
  }
  return { text, blocks: [prose(paragraph(...spans))] };
}

async function draw(
  context: SlackContext,
  piece: Piece,
): Promise<{ readonly span: Span; readonly text: string }> {
  if (typeof piece === 'string') return { span: words(piece), text: piece };
  if ('code' in piece) return { span: code(piece.code), text: piece.code };
  if ('at' in piece) return { span: moment(piece.at), text: `${piece.at.slice(11, 16)} UTC` };
  const name = `@${(await context.people.name(piece.person)).replace(/^@/, '')}`;
  return { span: words(name), text: name };
}
