import { withoutMarks } from '../core/model-words.ts';
import { unescapeMrkdwn } from '../core/unescape-mrkdwn.ts';
import type { Said } from '../incidents/context/said.ts';
import { redact } from '../safety/screen/redact.ts';
import { failureOf } from '../slack/outbound/web-errors.ts';
import type { SlackWorkspace } from '../slack/people/slack-workspace.ts';
import type { OwnIdentity } from '../slack/ports.ts';

/** What somebody wrote to others in Slack. */
export interface Written {
  readonly userId: string;
  readonly team: string | null;
  /** As it is read, without marks; secrets are still in it. */
  readonly text: string;
}

/** A reply that its author also sent to the channel is one like any other. */
const BROADCAST = 'thread_broadcast';

/** Null: a bot's, Slack's own, or said to Sentry, which knows it as a hint or a question. */
export function writtenIn(
  message: {
    readonly user?: string;
    readonly bot_id?: string;
    readonly team?: string;
    readonly text?: string;
  },
  own: OwnIdentity,
): Written | null {
  const { user, bot_id: bot, team, text = '' } = message;
  if (user === undefined || bot !== undefined || user === own.userId) return null;
  if ('subtype' in message && message.subtype !== undefined && message.subtype !== BROADCAST) return null;
  if (text === '' || [`<@${own.userId}>`, `<@${own.userId}|`].some((us) => text.includes(us))) return null;
  return { userId: user, team: team ?? null, text: withoutMarks(shown(text)) };
}

/** The same with who said it, without secrets; null: they are no member of the workspace. Throws where Slack does not tell. */
export async function saidBy(
  directory: Pick<SlackWorkspace['directory'], 'mayAct' | 'name'>,
  { userId, team, text }: Written,
): Promise<Said | null> {
  const may = await directory.mayAct(userId, team);
  // Whether a member said something is not known then: nothing must not be told.
  if (!may.ok && may.code === 'WHO_ARE_YOU') throw new Error('Slack does not tell who wrote there');
  if (!may.ok) return null;
  return { userId, name: (await directory.name(userId)).replace(/^@/, ''), text: redact(text) };
}

/** Throws why Slack told nothing, for people, on one line. */
export function notTold(error: unknown): never {
  throw new Error(whyNotTold(error), { cause: error });
}

function whyNotTold(error: unknown): string {
  const failure = failureOf(error);
  switch (failure.kind) {
    case 'wait':
      return `Slack asks Sentry to wait for ${Math.ceil(failure.ms / 1000)} s`;
    case 'setup':
      return `Slack says ${failure.code}. ${failure.hint}`;
    case 'refused':
      return `Slack says ${failure.code}`;
    case 'uncertain':
      return 'Slack does not answer';
  }
}

/** Mentions call nobody from where they are quoted, and the name of a channel is for its members. */
const shown = (text: string): string =>
  unescapeMrkdwn(
    text
      .replace(/<[@!][^<>]*>/g, '@somebody')
      .replace(/<#[^<>]*>/g, '#somewhere')
      .replace(/<[^<>|]*\|([^<>]*)>/g, '$1')
      .replace(/<([^<>]*)>/g, '$1'),
  );
