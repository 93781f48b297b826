import { setTimeout as delay } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
import { OpsError } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import { edit, type MessagePlace, post } from '../../outbound/deliver.ts';
import { hashOf } from '../../outbound/message.ts';
import type { RateLimiters } from '../../outbound/pacing.ts';
import type { OutboundStore } from '../../outbound/store.ts';
import { directId } from '../../outbound/subject.ts';
import type { SlackFailure } from '../../outbound/web-errors.ts';
import type { Slot } from '../../views/blocks/slot.ts';

/** A thread of a direct message with the bot: the first message of it is the person's. */
export interface DirectPlace {
  readonly channel: string;
  readonly threadTs: string;
}

/** A message that no incident's thread has: a direct one, or one shown in a channel. */
export interface MessageSpot {
  readonly channel: string;
  /** Null: a message of its own in the channel. */
  readonly threadTs: string | null;
  /** What it is known by in that channel; the thread, where it is left out. */
  readonly key?: string;
}

export interface DirectMessages {
  /**
   * Makes this message stand there once, saying just this, also over restarts, however long Slack is away. Rejects at the
   * end, and with SLACK_DIRECT where Slack will not have it: unlike an incident's thread, it is nobody else's to open again.
   */
  say(place: MessageSpot, slot: Slot): Promise<void>;
  /** The same for a message of its own to somebody, who wrote nothing: `about` tells it from others. `edits`: only if it stands already. */
  tell(userId: string, about: string, slot: Slot, options?: { readonly edits?: boolean }): Promise<void>;
}

export interface DirectDeps {
  readonly client: WebClient;
  readonly store: OutboundStore;
  readonly log: Log;
  readonly paces: RateLimiters;
  /** Aborted when nothing more is sent. */
  readonly stopping: AbortSignal;
}

/** What somebody has to set right for all messages at once is waited for; the rest is about this one conversation. */
const OF_THE_APP = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'missing_scope',
  'no_permission',
]);
const isFinal = ({ kind, code }: SlackFailure): boolean =>
  kind === 'refused' || (kind === 'setup' && !OF_THE_APP.has(code));

const aloneHint = { hint: 'The person may have left.' };
const BUSY_MS = 250;
const MAX_WAIT_MS = 15_000;

/** The messages of direct conversations, on the same rows and by the same calls as an incident's. */
export function createDirectMessages(deps: DirectDeps): DirectMessages {
  const { store, paces } = deps;

  /** Null: it stands there. Else how long to wait before it is tried again. */
  async function attempt(
    { subject, ...place }: MessagePlace,
    slot: Slot,
    onlyEdits: boolean,
  ): Promise<number | null> {
    if (!(await store.acquire(subject))) return BUSY_MS;
    try {
      const row = (await store.posts(subject)).get(slot.slot);
      if (onlyEdits && row === undefined) return null;
      const stands = row?.ts != null;
      if (stands && row.sentHash === hashOf(slot)) return null;
      const pace = stands ? paces.edits : paces.posts(place.channel);
      const wait = pace.reserve();
      if (wait > 1) {
        pace.giveBack();
        return wait;
      }
      if (!(await pace.claim())) return BUSY_MS;
      const at = { subject, ...place };
      const delivery = stands ? await edit(deps, at, slot, row) : await post(deps, at, slot, row);
      if (delivery.kind === 'later' && delivery.failure?.kind === 'wait') await pace.block(delivery.ms);
      if (delivery.kind === 'later' && delivery.failure && isFinal(delivery.failure))
        throw new OpsError('SLACK_DIRECT', `Slack takes no direct message here: ${delivery.failure.code}.`, {
          hint: 'The person may have left, or closed their messages with the bot; or the bot is not in the channel.',
        });
      if (delivery.kind === 'later') return Math.min(delivery.ms, MAX_WAIT_MS);
      return delivery.kind === 'lost' ? BUSY_MS : null;
    } finally {
      await store.release(subject, null);
    }
  }

  async function stand(place: MessagePlace, slot: Slot, onlyEdits = false): Promise<void> {
    for (;;) {
      deps.stopping.throwIfAborted();
      const wait = await attempt(place, slot, onlyEdits);
      if (wait === null) return;
      await delay(wait, undefined, { signal: deps.stopping });
    }
  }

  return {
    say: ({ channel, threadTs, key }, slot) =>
      stand({ subject: directId(channel, key ?? threadTs ?? ''), channel, threadTs }, slot),
    async tell(userId, about, slot, { edits = false } = {}) {
      const { channel } = await deps.client.conversations.open({ users: userId });
      if (!channel?.id)
        throw new OpsError('SLACK_DIRECT', `Slack opens no direct message with ${userId}.`, aloneHint);
      await stand({ subject: directId(channel.id, about), channel: channel.id, threadTs: null }, slot, edits);
    },
  };
}
