import { messageOf, OpsError, type Refusal, refuse } from '../../../core/errors.ts';
import type { IncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import type { Say } from '../../outbound/tell.ts';
import { type Block, moment, paragraph, prose, small, words } from '../../views/blocks/build.ts';
import { escape } from '../../views/blocks/text.ts';
import type { Pressed } from './pressed.ts';

/** An answer that only one person has read so far. */
interface Answer {
  readonly id: string;
  readonly channel: string;
  readonly thread_ts: string | null;
  readonly said: { readonly text: string; readonly blocks: readonly Block[] };
  readonly incidents: readonly IncidentId[];
  readonly at: string;
}

/** *Share*: what was answered to one person is shown to everybody where they asked, once. */
export async function shareIt(context: SlackContext, pressed: Pressed): Promise<void> {
  const { audience } = pressed;
  const answer = await answerOf(context, pressed);
  if ('ok' in answer) return context.tell(audience, { text: answer.reason });
  const no = await refusal(context, pressed, answer);
  if (no) return context.tell(audience, { text: no.reason });
  const isFirst = await claim(context, answer);
  try {
    // Stands there once, whoever comes again: also after a crash between the claim and the message.
    await context.direct.say(
      { channel: answer.channel, threadTs: answer.thread_ts, key: answer.id },
      {
        slot: 'answer:shared',
        inThread: answer.thread_ts !== null,
        ...(await shared(context, pressed, answer)),
      },
    );
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    context.deps.log.warn({ channel: answer.channel, error: messageOf(error) }, 'an answer was not shared');
    await context.deps.sql`UPDATE slack_answer SET shared_at = NULL WHERE id = ${answer.id}`;
    return context.tell(audience, {
      text: 'I cannot post here. Invite me to this channel, and press Share again.',
    });
  }
  await told(context, pressed, answer, isFirst);
}

/** Their own, asked for in this very channel. */
async function answerOf(
  { deps: { sql } }: SlackContext,
  { value, userId, audience }: Pressed,
): Promise<Answer | Refusal> {
  const [row] = await sql<Answer>`
    SELECT id, channel, thread_ts, said, incidents, to_json(at)#>>'{}' AS at FROM slack_answer
     WHERE id = ${value} AND user_id = ${userId} AND channel = ${audience.channel}
       AND at > statement_timestamp() - interval '1 day'`;
  return row ?? refuse('EXPIRED', 'This answer is too old to be shared. Ask again, and share that.');
}

/** Asked at the press: people leave, and channels become private or are shared with another company. */
async function refusal(
  { deps, access, directory }: SlackContext,
  { userId, teamId }: Pressed,
  { channel, incidents }: Answer,
): Promise<Refusal | null> {
  const may = await directory.mayAct(userId, teamId);
  if (!may.ok) return may;
  for (const id of incidents) {
    const incident = await deps.records.incident(id);
    if (incident === null) continue;
    const isTold =
      (await access.mayRead(userId, incident, null)) && (await access.mayTell(incident, { id, channel }));
    if (!isTold) return refuse('NOT_TO_SEE', `Not everybody here may read of ${id}: it is not shared.`);
  }
  // What is of no one incident tells of all systems: it is for people of this workspace.
  const isOurs = ['public', 'private'].includes(await access.sightOf(channel));
  return isOurs || incidents.length > 0
    ? null
    : refuse(
        'NOT_TO_SEE',
        'I cannot tell that only people of this workspace read along here: it is not shared.',
      );
}

async function claim({ deps: { sql } }: SlackContext, { id }: Answer): Promise<boolean> {
  const rows = await sql`
    UPDATE slack_answer SET shared_at = clock_timestamp() WHERE id = ${id} AND shared_at IS NULL RETURNING 1`;
  return rows.length > 0;
}

async function shared({ directory }: SlackContext, { userId }: Pressed, { said, at }: Answer) {
  const name = (await directory.name(userId)).replace(/^@/, '');
  return {
    text: escape(`@${name} shares: ${said.text}`),
    blocks: [
      prose(paragraph(words(`@${name} asked at `), moment(at), words(' and shares:'))),
      ...said.blocks,
    ],
  };
}

/** In the place of the button, so that it is not pressed again. */
async function told(
  { tell }: SlackContext,
  { audience }: Pressed,
  { said }: Answer,
  isFirst: boolean,
): Promise<void> {
  const text = isFirst ? 'Shared.' : 'It is shared already.';
  const say: Say = { text, blocks: [...said.blocks, small(text)] };
  if (!isFirst || !audience.respond) return tell(audience, { text });
  await audience
    .respond({ response_type: 'ephemeral', replace_original: true, text, blocks: [...(say.blocks ?? [])] })
    .then(undefined, () => tell(audience, { text }));
}
