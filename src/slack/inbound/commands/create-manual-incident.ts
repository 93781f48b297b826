import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';

/** Opens an incident for what a person has seen; its thread begins in the first alert channel. */
export async function createManualIncident(
  context: SlackContext,
  asked: {
    readonly userId: string;
    readonly teamId: string | null;
    readonly text: string;
    readonly key: string;
    /** Left out: the one that the words name. */
    readonly target?: string | undefined;
  },
): Promise<Say> {
  const may = await context.directory.mayAct(asked.userId, asked.teamId);
  if (!may.ok) return sayText(may.reason);
  const opened = await context.deps.createManualIncident({
    text: asked.text,
    by: asked.userId,
    key: asked.key,
    target: asked.target,
  });
  if (!opened.ok) return sayText(opened.reason);
  const { incidentId, target } = opened;
  const said = target
    ? `${incidentId} on ${target} is open.`
    : `${incidentId} is open; no configured target is named, so there is little I can read.`;
  return sayText(`${said} Its thread begins in the alert channel.`);
}
