import type { MessageShortcut, RespondFn } from '@slack/bolt';
import type { IncidentId } from '../../../core/ids.ts';
import { unescapeMrkdwn } from '../../../core/unescape-mrkdwn.ts';
import type { SlackContext } from '../../context.ts';
import type { Audience } from '../../outbound/tell.ts';

/** A shortcut as it was chosen: who and where come from Slack's own signed payload. */
export interface Shortcut {
  readonly userId: string;
  readonly teamId: string | null;
  readonly channel: string;
  readonly to: Audience;
  /** When it was chosen; no other choice has the same. */
  readonly actionTs: string;
  readonly message: {
    readonly ts: string;
    /** Of the thread it stands in, or begins. */
    readonly threadTs: string;
    /** A person's id; null: an app has written it. */
    readonly by: string | null;
    /** It carries what others have said: a message that was forwarded, a link that was opened. */
    readonly carries: boolean;
    /** Its words, links by their label. */
    readonly text: string;
  };
}

interface Attachment {
  readonly [field: string]: unknown;
}

export function readShortcut(body: MessageShortcut, respond: RespondFn): Shortcut {
  const message = body.message as Readonly<Record<string, unknown>>;
  const {
    ts,
    thread_ts: thread,
    user,
    bot_id: bot,
  } = message as Readonly<Record<string, string | undefined>>;
  const at = ts ?? body.message_ts;
  const userId = body.user.id;
  return {
    userId,
    teamId: body.user.team_id ?? body.team?.id ?? null,
    channel: body.channel.id,
    to: { userId, channel: body.channel.id, threadTs: thread ?? null, respond },
    actionTs: body.action_ts,
    message: {
      ts: at,
      threadTs: thread ?? at,
      by: bot === undefined ? (user ?? null) : null,
      carries: Array.isArray(message['attachments']) && message['attachments'].length > 0,
      text: textOf(message),
    },
  };
}

/** What an app says is often in its attachments alone. */
function textOf(message: Readonly<Record<string, unknown>>): string {
  const attachments = (message['attachments'] ?? []) as readonly Attachment[];
  const attached = attachments.flatMap(({ pretext, title, text, fallback }) =>
    [pretext, title, text].some(Boolean) ? [pretext, title, text] : [fallback],
  );
  return [message['text'], ...attached]
    .filter((each): each is string => typeof each === 'string' && each.trim() !== '')
    .map(withoutLinks)
    .join('\n')
    .trim();
}

const withoutLinks = (mrkdwn: string): string =>
  unescapeMrkdwn(
    mrkdwn
      .replace(/<(?:https?|mailto):[^<>|]*\|([^<>]*)>/g, '$1')
      .replace(/<((?:https?|mailto):[^<>|]+)>/g, '$1'),
  );

/** So many alerts of one message are told apart. */
const MOST_LISTED = 20;

/** The incidents that this message has opened or is a part of: as an alert, by a mention, by *Investigate this*. */
export async function openedBy(
  { deps: { sql } }: SlackContext,
  { channel, message: { ts } }: Shortcut,
): Promise<readonly IncidentId[]> {
  const alert = `slack:${channel}:${ts}`;
  const keys = [
    alert,
    ...Array.from({ length: MOST_LISTED }, (_, n) => `${alert}#${n + 1}`),
    `hand:${channel}:${ts}`,
  ];
  const rows = await sql<{ readonly id: IncidentId }>`
    SELECT incident_id AS id FROM alert WHERE delivery_key = ANY (${sql.array(keys)}::text[]) ORDER BY id`;
  return [...new Set(rows.map(({ id }) => id))];
}
