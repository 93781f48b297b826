import { type IncidentId, parseIncidentId } from '../../../core/ids.ts';
import type { Correlation } from '../../../incidents/correlation/correlation.ts';
import type { Steered } from '../../../incidents/steering.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { type Asked, incidentHere, notToSee } from './command.ts';

/** “split” and “merge … into …” as somebody says it to the bot; `id` null: what is being talked about. */
export type MergeOrder =
  | { readonly verb: 'split'; readonly id: IncidentId | null }
  | { readonly verb: 'merge'; readonly id: IncidentId | null; readonly into: IncidentId };

const SPLIT = /^split(?:\s+(?:this|it|(inc-[1-9]\d*)))?[\s.!]*$/i;
const MERGE =
  /^merge(?:\s+(?:this|it|(inc-[1-9]\d*)))?\s+(?:in|into|to|with|under)\s+(inc-[1-9]\d*)[\s.!]*$/i;

/** Null: the text is neither, or says more; a sentence is none of them. */
export function readMergeOrder(text: string): MergeOrder | null {
  const split = SPLIT.exec(text.trim());
  if (split) return { verb: 'split', id: idIn(split[1]) };
  const [, named, target = ''] = MERGE.exec(text.trim()) ?? [];
  const into = parseIncidentId(target);
  return into ? { verb: 'merge', id: idIn(named), into } : null;
}

const idIn = (word: string | undefined): IncidentId | null => parseIncidentId(word ?? '') ?? null;

const HOW = {
  split: 'Say which: /sentry split INC-5',
  merge: 'Say which into which: /sentry merge INC-5 into INC-3',
} as const;

/** `/sentry split INC-5` and `/sentry merge INC-5 into INC-3`; in a thread of an incident it need not be named. */
export async function mergeCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const { userId, teamId, text } = asked;
  const may = await context.directory.mayAct(userId, teamId);
  if (!may.ok) return sayText(may.reason);
  const order = readMergeOrder(text);
  const id = order?.id ?? (await incidentHere(context, asked));
  if (!order || !id) return sayText(/^\s*split\b/i.test(text) ? HOW.split : HOW.merge);
  const unseen = await firstUnseen(context, asked, order.verb === 'merge' ? [id, order.into] : [id]);
  if (unseen) return sayText(notToSee(unseen));
  const done = await carryOut(context.deps.correlation, order, id, userId);
  context.outbound.pressed(id);
  return sayText(await context.withNames(done.ok ? done.text : done.reason));
}

const carryOut = (
  correlation: Correlation,
  order: MergeOrder,
  id: IncidentId,
  by: string,
): Promise<Steered> =>
  order.verb === 'split' ? correlation.split(id, by) : correlation.merge(id, order.into, by);

async function firstUnseen(
  { deps, access }: SlackContext,
  { userId, channel }: Asked,
  ids: readonly IncidentId[],
): Promise<IncidentId | null> {
  for (const id of ids) {
    const incident = await deps.records.incident(id);
    if (incident === null || !(await access.mayRead(userId, incident, channel))) return id;
  }
  return null;
}
