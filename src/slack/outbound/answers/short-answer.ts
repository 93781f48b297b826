import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import type { Line, Piece } from '../../../incidents/questions/answer-lines.ts';
import { notAnswered } from '../../../incidents/questions/not-answered.ts';
import type { NowRead } from '../../../incidents/questions/read-now.ts';
import { answerWithSource, type Source, stateLines } from '../../../incidents/questions/record-answer.ts';
import type { SlackContext } from '../../context.ts';
import { hideLeads, readableBy } from '../../people/access.ts';
import { messageUrl } from '../../people/identity.ts';
import {
  button,
  buttons,
  code,
  link,
  moment,
  paragraph,
  prose,
  type Span,
  words,
} from '../../views/blocks/build.ts';
import { ACTIONS } from '../../views/blocks/slot.ts';
import type { Say } from '../tell.ts';

const MAX_LINES = 3;

/** Who reads an answer: one person alone, or a channel's members, to whom other channels' incidents are not told. */
export interface Readers {
  readonly userId: string;
  readonly channel: string;
  readonly alone: boolean;
  /** Who asks may have the live system looked at. */
  readonly mayLook: boolean;
}

/**
 * What the record answers, in three lines at most, and how it is at this moment where that is asked; null: neither tells, and
 * somebody else has to. Only who may act here has the live system looked at.
 */
export async function shortAnswer(
  context: SlackContext,
  record: IncidentRecord,
  text: string,
  readers: Readers,
  before: readonly string[] = [],
): Promise<Say | null> {
  const { approvers } = await context.drawOptions(record);
  const { questions } = context.deps;
  const { hasModel } = questions;
  const known = answerWithSource(
    record,
    text,
    {
      approvers: approvers ?? null,
      open: await openFor(context, readers),
      now: new Date(),
      names: await namesOf(context, record),
      mayUndo: context.deps.afterwards.mayUndo,
      elsewhere: hasModel,
    },
    before,
  );
  if (known === null && hasModel) return null;
  const seen = readers.mayLook ? await questions.readNow(record, text) : null;
  const { lines, source } =
    known ??
    (seen === null
      ? notAnswered(record, text, readers.mayLook ? questions.readable(record) : null)
      : { lines: [], source: { kind: 'incident', id: record.incident.id } });
  const live = seen === null ? [] : liveLines(seen);
  const told =
    known === null || live.length === 0
      ? [...lines, ...live]
      : [...lines.slice(0, MAX_LINES - 1), ...live.slice(0, 1)];
  return withSource(await sayLines(context, told), source, readers.alone ? threadOf(context, record) : null);
}

/** Where the incident's thread is, for who reads elsewhere. */
function threadOf(context: SlackContext, { incident }: IncidentRecord): string | null {
  const { channel, threadTs } = incident;
  return channel && threadTs ? messageUrl(context.identity(), channel, threadTs) : null;
}

const opens = {
  call: { text: 'Show output', action: ACTIONS.output },
  action: { text: 'Details', action: ACTIONS.evidence },
  incident: { text: 'The record', action: ACTIONS.why },
} as const;

/** An answer with a press to what it rests on. */
const withSource = (said: Say, { kind, id }: Source, thread: string | null): Say => ({
  text: said.text,
  blocks: [
    ...(said.blocks ?? []),
    ...(thread === null ? [] : [prose(paragraph(link(thread, 'Open its thread')))]),
    buttons(button({ ...opens[kind], value: id })),
  ],
});

/** How those are called who decided something here. */
async function namesOf(
  { directory }: SlackContext,
  { actions }: IncidentRecord,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(actions.flatMap(({ approvedBy, decidedBy }) => [...approvedBy, decidedBy ?? '']));
  const people = [...ids].filter(isSlackUser);
  return new Map(await Promise.all(people.map(async (id) => [id, await directory.name(id)] as const)));
}

function liveLines({ at, state, lines }: NowRead): readonly Line[] {
  const heads = {
    red: 'It is so now, read at ',
    green: 'Nothing of it was to be seen at ',
    unread: 'How it is now cannot be told, it could not be read at ',
  } as const;
  const [first, ...rest] = lines.slice(0, MAX_LINES);
  return [
    [heads[state], { at }, first === undefined ? '.' : `: ${first}`],
    ...rest.map((line): Line => [line]),
  ];
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
    : hideLeads(open.filter((incident) => incident.channel === channel));
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
  const name = `@${(await context.directory.name(piece.person)).replace(/^@/, '')}`;
  return { span: words(name), text: name };
}
