import type { IncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import type { Say } from '../../outbound/tell.ts';

/** The parts of help, in the order in which they stand there. */
export const HELP_GROUPS = [
  'Ask',
  'Begin',
  'Take',
  'Hand over',
  'Stop',
  'One problem, or two',
  'Mute',
  'Watch',
  'Remember',
  'Set up',
] as const;

export type HelpGroup = (typeof HELP_GROUPS)[number];

/** Something that people ask of Sentry by its name: `/sentry NAME …`, or said to it in a thread or alone. */
export interface Command {
  /** In lower case; the first word. */
  readonly name: string;
  readonly group: HelpGroup;
  /** What help shows: what to type after `/sentry`, and what that does. Empty: help does not list it. */
  readonly forms: readonly (readonly [typed: string, does: string])[];
  readonly run: (context: SlackContext, asked: Asked) => Promise<Say>;
}

/** A command as somebody gave it. */
export interface Asked {
  readonly userId: string;
  readonly teamId: string | null;
  readonly channel: string;
  /** The thread it was asked in, where Slack tells. */
  readonly threadTs: string | null;
  /** All of it, as it was typed, line ends included. */
  readonly text: string;
  /** What follows its name, words apart by one space. */
  readonly rest: string;
  /** Says something before the answer. */
  readonly say: (say: Say) => void;
}

/** The incident in whose thread it was asked. */
export async function incidentHere(
  { deps }: SlackContext,
  { channel, threadTs }: Pick<Asked, 'channel' | 'threadTs'>,
): Promise<IncidentId | null> {
  return threadTs ? deps.records.findByThread(channel, threadTs) : null;
}

/** The same words for both: whether there is one in a private channel is its members' to know. */
export const notToSee = (id: IncidentId): string => `There is no ${id} that you may see.`;
