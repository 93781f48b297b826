import type { ChatPostMessageArguments, WebClient } from '@slack/web-api';
import { messageOf as errorText } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Slot } from '../views/blocks/slot.ts';
import { findPosted } from './find-posted.ts';
import { inAForm } from './forms.ts';
import { hashOf, metadataOf, type OutgoingMessage } from './message.ts';
import type { OutboundStore, PostRow } from './store.ts';
import type { SubjectId } from './subject.ts';
import { codeOf, failureOf, isUnknownMethod, type SlackFailure } from './web-errors.ts';

/** A request of a process that died may still be on its way to Slack for this long. */
const IN_FLIGHT_MS = 5_000;
/** After a 5xx of our own the message may show a little later. */
const SETTLE_MS = 1_000;

/** How one call ended: done, or when and why to try again. `lost`: another process draws this now. */
export type Delivery =
  | { readonly kind: 'done' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'later'; readonly ms: number; readonly failure: SlackFailure | null };

const DONE: Delivery = { kind: 'done' };

export interface DeliverDeps {
  readonly client: WebClient;
  readonly store: OutboundStore;
  readonly log: Log;
}

export interface MessagePlace {
  readonly subject: SubjectId;
  readonly channel: string;
  /** Null for a message of its own in the channel. */
  readonly threadTs: string | null;
}

/** Makes sure that a message stands in Slack once, whatever became of earlier tries. The caller has paid for one post. */
export async function post(
  deps: DeliverDeps,
  place: MessagePlace,
  slot: Slot,
  row: PostRow | undefined,
): Promise<Delivery> {
  const { store } = deps;
  if (row?.postingForMs != null) {
    const settled = await settle(deps, place, slot, row, row.postingForMs);
    if (settled) return settled;
  }
  const attempt = await store.beginPost(place.subject, slot.slot, place.channel);
  if (!(await store.renew(place.subject))) {
    await store.abandonPost(place.subject, slot.slot, attempt);
    return { kind: 'lost' };
  }
  try {
    const sent = await send(deps, place, slot);
    if (!sent.isStray) return await record(deps, place, slot, sent);
    await store.abandonPost(place.subject, slot.slot, attempt);
    await takeBack(deps, place, sent);
    return await threadIsGone(deps, place);
  } catch (error) {
    const failure = failureOf(error);
    // An uncertain end leaves the post open: the next try looks first.
    if (failure.kind !== 'uncertain') await store.abandonPost(place.subject, slot.slot, attempt);
    if (failure.code === 'thread_not_found') {
      const begun = await threadIsGone(deps, place);
      if (begun.kind === 'done') return begun;
    }
    return later(deps, place, slot, failure);
  }
}

/** Its first message was deleted: an approval that is asked for nowhere would be lost. */
async function threadIsGone(
  { store, log }: DeliverDeps,
  { subject, threadTs }: MessagePlace,
): Promise<Delivery> {
  if (threadTs && (await store.forgetThread(subject, threadTs))) {
    log.warn({ subject, thread: threadTs }, 'a thread was deleted: beginning another');
    return DONE;
  }
  return { kind: 'later', ms: 30_000, failure: { kind: 'refused', code: 'thread_not_found' } };
}

/** Makes a message say what it should. The caller has paid for one edit. */
export async function edit(
  deps: DeliverDeps,
  place: MessagePlace,
  slot: Slot,
  row: PostRow,
): Promise<Delivery> {
  const { store, client, log } = deps;
  if (!(await store.beginEdit(place.subject, slot.slot))) return { kind: 'lost' };
  const ts = row.ts ?? '';
  try {
    await degrading(deps, place, slot, (message) =>
      client.chat.update({ channel: row.channel, ts, ...message, parse: 'none', link_names: false }),
    );
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== 'refused') return later(deps, place, slot, failure);
    // Deleted by somebody, or too old to be edited: the record stands, the thread goes on without it.
    log.warn(
      { subject: place.subject, slot: slot.slot, code: failure.code },
      'a message can no longer be edited',
    );
  }
  // Whoever took over meanwhile may have sent something newer before this arrived: let it be sent again.
  const still = await store.renew(place.subject);
  await store.edited(place.subject, slot.slot, still ? hashOf(slot) : null);
  return still ? DONE : { kind: 'lost' };
}

/** Looks for a message whose post was begun. Null: it is not there and can no longer come. */
async function settle(
  deps: DeliverDeps,
  place: MessagePlace,
  slot: Slot,
  row: PostRow,
  begunMsAgo: number,
): Promise<Delivery | null> {
  const { client, store, log } = deps;
  try {
    const where = { ...place, channel: row.channel, slot: slot.slot, begunMsAgo };
    const found = await findPosted(client, where);
    if (found) {
      log.info({ subject: place.subject, slot: slot.slot }, 'found a message whose post was not recorded');
      const hash = hashOf(slot);
      const same = found.rev !== null && hash.startsWith(found.rev);
      const at = { channel: row.channel, ts: found.ts, hash: same ? hash : null };
      await store.posted(place.subject, slot.slot, at);
      return DONE;
    }
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === 'wait' || failure.kind === 'uncertain') return later(deps, place, slot, failure);
    const cannot = isUnknownMethod(error) || failure.kind === 'setup' || failure.kind === 'refused';
    if (!cannot) throw error;
    log.warn(
      { subject: place.subject, slot: slot.slot, code: failure.code },
      'cannot look whether a message was posted: posting it, which may double it',
    );
  }
  const wait = (ownAttempts.has(keyOf(place, slot)) ? SETTLE_MS : IN_FLIGHT_MS) - begunMsAgo;
  return wait > 0 ? { kind: 'later', ms: wait, failure: null } : null;
}

/** Posts that ended in this process with an error: their requests are over, unlike those of a dead process. */
const ownAttempts = new Set<string>();
const keyOf = (place: MessagePlace, slot: Slot): string => `${place.subject}/${slot.slot}`;

function later(deps: DeliverDeps, place: MessagePlace, slot: Slot, failure: SlackFailure): Delivery {
  const fields = { subject: place.subject, slot: slot.slot, code: failure.code };
  if (failure.kind === 'uncertain') ownAttempts.add(keyOf(place, slot));
  if (failure.kind === 'wait') return { kind: 'later', ms: failure.ms, failure };
  if (failure.kind === 'setup') deps.log.error({ ...fields, hint: failure.hint }, 'Slack refuses messages');
  else deps.log.warn(fields, 'Slack did not take a message');
  return { kind: 'later', ms: failure.kind === 'uncertain' ? SETTLE_MS : 30_000, failure };
}

interface Sent {
  readonly channel: string;
  readonly ts: string;
  /** It was meant for a thread that is gone: Slack posts such a message at the top of the channel, and says nothing. */
  readonly isStray: boolean;
}

async function send(deps: DeliverDeps, place: MessagePlace, slot: Slot): Promise<Sent> {
  const { client, log } = deps;
  const to = { channel: place.channel, ...(place.threadTs ? { thread_ts: place.threadTs } : {}) };
  const attempt = async (message: OutgoingMessage, marked: boolean) => {
    const metadata = marked ? { metadata: metadataOf(place.subject, slot.slot) } : {};
    const sent = await client.chat.postMessage({
      ...to,
      ...message,
      ...metadata,
      parse: 'none',
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    } as ChatPostMessageArguments);
    const isElsewhere = place.threadTs !== null && sent.message?.thread_ts !== place.threadTs;
    return {
      channel: sent.channel ?? place.channel,
      ts: sent.ts ?? '',
      isStray: isElsewhere && (await isGone(deps, place.channel, place.threadTs ?? '')),
    };
  };
  return degrading(deps, place, slot, async (message) => {
    try {
      return await attempt(message, true);
    } catch (error) {
      const code = codeOf(error);
      if (code === 'not_in_channel') {
        await client.conversations.join({ channel: place.channel }).catch((joining: unknown) => {
          log.warn({ channel: place.channel, error: errorText(joining) }, 'cannot join the channel');
          throw error;
        });
        return attempt(message, true);
      }
      if (code.startsWith('metadata') || code.startsWith('invalid_metadata')) return attempt(message, false);
      throw error;
    }
  });
}

/** Asked, since a server may only leave out in its answer which thread it was; where it does not tell, the message stays. */
async function isGone({ client }: DeliverDeps, channel: string, ts: string): Promise<boolean> {
  try {
    const { messages } = await client.conversations.replies({ channel, ts, limit: 1 });
    return messages?.[0]?.ts !== ts;
  } catch (error) {
    return ['thread_not_found', 'message_not_found'].includes(codeOf(error));
  }
}

async function takeBack({ client, log }: DeliverDeps, { subject }: MessagePlace, sent: Sent): Promise<void> {
  try {
    await client.chat.delete({ channel: sent.channel, ts: sent.ts });
  } catch (error) {
    log.warn({ subject, code: codeOf(error) }, 'a message outside its thread could not be taken back');
  }
}

/** Whatever Slack refuses of its shape, something always arrives. */
const degrading = <T>(
  { client, log }: DeliverDeps,
  { subject }: MessagePlace,
  slot: Slot,
  call: (message: OutgoingMessage) => Promise<T>,
): Promise<T> =>
  inAForm(client, subject, slot, call, (code) =>
    log.error({ subject, slot: slot.slot, code }, 'Slack refuses the shape of a message'),
  );

async function record(
  deps: DeliverDeps,
  place: MessagePlace,
  slot: Slot,
  { channel, ts }: Sent,
): Promise<Delivery> {
  ownAttempts.delete(keyOf(place, slot));
  if (await deps.store.posted(place.subject, slot.slot, { channel, ts, hash: hashOf(slot) })) return DONE;
  // Another process, thinking us dead, posted the same and recorded it first: take ours back.
  deps.log.warn({ subject: place.subject, slot: slot.slot }, 'a message was posted twice; taking one back');
  await deps.client.chat.delete({ channel, ts });
  return { kind: 'lost' };
}
