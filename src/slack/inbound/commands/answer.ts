import { randomUUID } from 'node:crypto';
import { messageOf } from '../../../core/errors.ts';
import { asIncidentId, type IncidentId } from '../../../core/ids.ts';
import type { Json } from '../../../core/tool-call.ts';
import { outwardJson } from '../../../safety/screen/boundary.ts';
import type { SlackContext } from '../../context.ts';
import type { Audience, Say } from '../../outbound/tell.ts';
import { button, buttons } from '../../views/blocks/build.ts';
import { LIMITS } from '../../views/blocks/limits.ts';
import { ACTIONS } from '../../views/blocks/slot.ts';

/** Of a message's blocks, what *Share* and the line above what is shared take. */
const BESIDE = 2;

/** Answers one person; where others are who may want to read it, with *Share*. */
export async function answer(context: SlackContext, to: Audience, say: Say): Promise<void> {
  const id =
    say.share === true && to.channel !== null && !isDirect(to.channel) ? await keep(context, to, say) : null;
  if (id === null) return context.tell(to, say);
  const share = buttons(button({ text: 'Share', action: ACTIONS.share, value: id }));
  await context.tell(to, { text: say.text, blocks: [...blocksOf(say), share] });
}

/** Nobody else reads along there. */
export const isDirect = (channel: string): boolean => channel.startsWith('D');

const blocksOf = ({ blocks = [] }: Say) => blocks.slice(0, LIMITS.messageBlocks - BESIDE);

/** On record as it is told, so that others are shown just that. Null: it cannot be kept, and so not be shared. */
async function keep(context: SlackContext, to: Audience, say: Say): Promise<string | null> {
  const { sql, log } = context.deps;
  const id = randomUUID();
  const said = outwardJson({
    text: await context.withNames(say.text),
    blocks: [...blocksOf(say)],
  } as unknown as Json);
  try {
    await sql`
      INSERT INTO slack_answer (id, user_id, channel, thread_ts, said, incidents)
      VALUES (${id}, ${to.userId}, ${to.channel}, ${to.threadTs}, ${sql.json(said)}, ${sql.array([...incidentsIn(said)])}::text[])`;
    return id;
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'an answer could not be kept; it cannot be shared');
    return null;
  }
}

/** Whatever an answer tells of an incident, it names it. */
function incidentsIn(said: Json): ReadonlySet<IncidentId> {
  // A line's end is written as a letter there, and would be a part of the word.
  const named =
    JSON.stringify(said)
      .replace(/\\[nrt]/g, ' ')
      .match(/\bINC-[1-9]\d*\b/g) ?? [];
  return new Set(named.map(asIncidentId));
}
