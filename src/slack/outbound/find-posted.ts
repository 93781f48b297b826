import type { WebClient } from '@slack/web-api';
import { blockMark, METADATA_TYPE } from './message.ts';
import type { SubjectId } from './subject.ts';

/** A message of ours found in Slack; `rev` is the start of its content's hash when the block id tells it. */
export interface FoundPost {
  readonly ts: string;
  readonly rev: string | null;
}

interface Found {
  readonly ts?: string;
  readonly blocks?: readonly { readonly block_id?: string }[];
  readonly metadata?: {
    readonly event_type?: string;
    readonly event_payload?: { readonly incident?: unknown; readonly slot?: unknown };
  };
}

/** Clocks of Slack and of the database may differ by this much. */
const SKEW_SECONDS = 300;
const MAX_PAGES = 5;

/**
 * Looks in Slack for a message whose post was begun and never recorded, by its metadata, or where the server keeps
 * none by its first block's id. Throws what the client throws: not being able to look is not "not there".
 */
export async function findPosted(
  client: WebClient,
  wanted: {
    readonly subject: SubjectId;
    readonly slot: string;
    readonly channel: string;
    /** Null for the root. */
    readonly threadTs: string | null;
    readonly begunMsAgo: number;
  },
): Promise<FoundPost | null> {
  const oldest = (Date.now() - wanted.begunMsAgo) / 1000 - SKEW_SECONDS;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const shared = {
      channel: wanted.channel,
      oldest: oldest.toFixed(6),
      include_all_metadata: true,
      limit: 200,
      ...(cursor ? { cursor } : {}),
    };
    const answer = wanted.threadTs
      ? await client.conversations.replies({ ...shared, ts: wanted.threadTs })
      : await client.conversations.history(shared);
    for (const message of (answer.messages ?? []) as readonly Found[]) {
      const found = recognise(message, wanted);
      if (found) return found;
    }
    cursor = answer.response_metadata?.next_cursor || undefined;
    if (!cursor) return null;
  }
  return null;
}

function recognise(
  message: Found,
  wanted: { readonly subject: SubjectId; readonly slot: string },
): FoundPost | null {
  if (!message.ts) return null;
  const mark = blockMark(wanted.subject, wanted.slot);
  const id = message.blocks?.[0]?.block_id ?? '';
  if (id.startsWith(mark)) return { ts: message.ts, rev: id.slice(mark.length) };
  const payload = message.metadata?.event_payload;
  const ours =
    message.metadata?.event_type === METADATA_TYPE &&
    payload?.incident === wanted.subject &&
    payload.slot === wanted.slot;
  return ours ? { ts: message.ts, rev: null } : null;
}
