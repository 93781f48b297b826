import type { Incident } from '../core/incident.ts';
import type { Target } from '../core/target.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { classifyReadFailure, isUnanswered } from '../incidents/failed-reads/classify-read-failure.ts';
import type { TargetSystem } from '../memory/systems/systems.ts';
import type { HomeRecord } from '../record/home-record.ts';
import { redact } from '../safety/screen/redact.ts';
import type { HomeGap, HomeTarget } from '../slack/views/home-facts.ts';

/** Every target is asked once an hour what it runs: one that missed two of them is silent. */
const SILENT_MS = 130 * 60_000;

/** How each target was when it was last looked at: by an incident's reads, or by the hourly look. */
export function targetsSeen(
  targets: Iterable<Pick<Target, 'name'>>,
  looks: readonly ToolCall[],
  systems: readonly Pick<TargetSystem, 'target' | 'seenAt'>[],
  now: Date,
): readonly HomeTarget[] {
  return [...targets].map(({ name }): HomeTarget => {
    const look = looks.find(({ target }) => target === name);
    const seenAt = systems.find(({ target }) => target === name)?.seenAt ?? null;
    const isLater = look !== undefined && (seenAt === null || isAfter(look.finishedAt, seenAt));
    if (isLater) return { name, state: isUnanswered(look) ? 'away' : 'answers', at: look.finishedAt };
    if (seenAt === null) return { name, state: 'unseen', at: null };
    const isSilent = now.getTime() - Date.parse(seenAt) > SILENT_MS;
    return { name, state: isSilent ? 'silent' : 'answers', at: seenAt };
  });
}

/**
 * What the last diagnoses of these incidents could not read and somebody can grant, the most frequent first. What has worked since, in
 * whichever of them, is no gap any more.
 */
export async function findGaps(
  record: HomeRecord,
  incidents: readonly Incident[],
  readerOf: (target: string) => string | null,
): Promise<readonly HomeGap[]> {
  const ids = incidents.map(({ id }) => id);
  const diagnosed = await record.unread(ids);
  const unread = diagnosed.flatMap((one) => one.unread.map(({ toolCallId }) => toolCallId));
  if (unread.length === 0) return [];
  const calls = await record.toolCalls(unread);
  const worked = await record.lastWorked(ids, unread);
  const gaps = new Map<string, HomeGap & { readonly seenIn: Set<string> }>();
  for (const call of calls.toSorted((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt))) {
    const { tool, target } = call;
    const why = target === null ? null : classifyReadFailure(call, readerOf(target));
    if (target === null || why?.way !== 'grant') continue;
    if (worked.some((one) => one.tool === tool && one.target === target && isAfter(one.at, call.startedAt)))
      continue;
    const { steps } = why;
    const key = JSON.stringify([target, steps.exact ?? steps.what]);
    const known = gaps.get(key);
    if (known) known.seenIn.add(call.incidentId);
    else
      gaps.set(key, {
        ...steps,
        target,
        reason: redact(why.reason),
        seenIn: new Set([call.incidentId]),
        incidents: 0,
        of: diagnosed.filter((one) => one.target === target).length,
      });
  }
  return [...gaps.values()]
    .map(({ seenIn, ...gap }) => ({ ...gap, incidents: seenIn.size }))
    .sort((a, b) => b.incidents - a.incidents);
}

const isAfter = (a: string, b: string): boolean => Date.parse(a) > Date.parse(b);
