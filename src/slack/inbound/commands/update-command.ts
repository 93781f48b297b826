import { readIncidentId } from '../../../core/ids.ts';
import type { Incident } from '../../../core/incident.ts';
import { nextCalls } from '../../../incidents/reports/handoff-of.ts';
import { openProposal, sitrep, sitrepLine, worstFirst } from '../../../incidents/reports/sitrep.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { readableBy } from '../../people/access.ts';
import { cut } from '../../views/blocks/text.ts';
import { isDirect } from './answer.ts';
import { type Asked, incidentHere, notToSee } from './command.ts';

const OPEN = 200;
const LISTED = 20;

/** `/sentry update [INC-7]`: how it stands, for who is not in the thread; of several that are open, a line each. */
export async function updateCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const { records } = context.deps;
  const { userId, channel, rest } = asked;
  const named = rest ? readIncidentId(rest) : await incidentHere(context, asked);
  if (rest && !named)
    return sayText(`“${cut(rest, 60)}” is not an incident’s number. Say it like this: /sentry update INC-7`);
  if (named) {
    const incident = await records.incident(named);
    if (incident === null || !(await context.access.mayRead(userId, incident, channel)))
      return sayText(notToSee(named));
    return updateOf(context, incident);
  }
  const all = await records.list({ limit: OPEN, open: true });
  const open = worstFirst(
    await readableBy(context, userId, channel, await tellableHere(context, asked, all)),
  );
  const [only, ...others] = open;
  if (only === undefined) return sayText('Nothing is open that I may tell you of here.');
  if (others.length === 0) return updateOf(context, only);
  const lines = open.slice(0, LISTED).map(sitrepLine);
  const more = open.length > LISTED ? [`and ${open.length - LISTED} more: /sentry incidents`] : [];
  return {
    ...sayText([...lines, ...more, '', `More of one: /sentry update ${only.id}`].join('\n')),
    share: true,
  };
}

async function updateOf(context: SlackContext, { id }: Incident): Promise<Say> {
  const { records, measured, sql } = context.deps;
  const record = await records.load(id);
  if (record === null) return sayText(notToSee(id));
  const nextCallAt = (await nextCalls(sql, [id])).get(id) ?? null;
  const { ring } = openProposal(record) ? await context.drawOptions(record) : {};
  const options = { now: new Date(), read: measured, nextCallAt, ...(ring ? { mentioned: ring } : {}) };
  const text = sitrep(record, options);
  return { ...sayText(await context.withNames(text)), share: true };
}

/** What is said in a thread is read by all who read there: then only what they all may read. */
export async function tellableHere(
  { access }: SlackContext,
  { channel, threadTs }: Pick<Asked, 'channel' | 'threadTs'>,
  incidents: readonly Incident[],
): Promise<readonly Incident[]> {
  if (threadTs === null || isDirect(channel)) return incidents;
  const may = await Promise.all(incidents.map((said) => access.mayTell(said, { id: said.id, channel })));
  return incidents.filter((_, at) => may[at]);
}
