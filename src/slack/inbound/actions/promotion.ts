import { messageOf, type Refusal, refuse } from '../../../core/errors.ts';
import { asToolCallId, type IncidentId } from '../../../core/ids.ts';
import type { Promotion } from '../../../memory/promotion/ports.ts';
import type { SlackContext } from '../../context.ts';
import { asProposalId } from '../../outbound/subject.ts';
import type { Audience } from '../../outbound/tell.ts';
import { codeOf } from '../../outbound/web-errors.ts';
import { messageUrl } from '../../people/identity.ts';
import { isAdminNow } from '../../people/reader.ts';
import type { SlackMemory } from '../../ports.ts';
import { formatPrincipal } from '../../views/draw-options.ts';
import { type Entered, readField, readLongField } from '../../views/form.ts';
import {
  CONTENT,
  editPromotionView,
  noticeView,
  promotionView,
  REASON,
  type ReviewContext,
  rejectView,
  sourcesView,
} from '../../views/promotion-views.ts';
import type { Pressed } from './pressed.ts';
import { mayLook, show } from './show.ts';

type Decision =
  | { readonly kind: 'approve'; readonly content?: string }
  | { readonly kind: 'reject'; readonly reason: string };

/** What was read when the button was drawn. */
export interface Seen {
  readonly jobId: string;
  readonly sha256: string;
  /** Null: nothing stood in the workspace. */
  readonly current: string | null;
}

/** `dream_…:<text>:<workspace text>`, as the card's buttons carry it; null for anything else. */
export function readSeen(value: string): Seen | null {
  const match = /^(dream_[0-9a-f]{32}):([0-9a-f]{64}):([0-9a-f]{64}|none)$/.exec(value);
  const [, jobId, sha256, current] = match ?? [];
  return jobId && sha256 && current ? { jobId, sha256, current: current === 'none' ? null : current } : null;
}

export const approvePromotion = (context: SlackContext, pressed: Pressed): Promise<void> =>
  settle(context, pressed.value, pressed.audience, pressed.teamId, { kind: 'approve' });

/** Asks why first. */
export const rejectPromotion = (context: SlackContext, pressed: Pressed): Promise<void> =>
  ask(context, pressed, (promotion, where) => rejectView({ ...where, seen: pressed.value }, promotion));

export const editPromotion = (context: SlackContext, pressed: Pressed): Promise<void> =>
  ask(context, pressed, (promotion, where) => editPromotionView(where, promotion));

export async function rejected(
  context: SlackContext,
  by: { readonly userId: string; readonly teamId: string | null },
  where: ReviewContext,
  values: Entered,
): Promise<void> {
  const audience = { userId: by.userId, channel: where.channel || null, threadTs: where.threadTs };
  await settle(context, where.seen, audience, by.teamId, {
    kind: 'reject',
    reason: readField(values, REASON),
  });
}

/** Decides with the admin's text; a text that is not taken comes back in the window, with why. */
export async function approvedWithEdits(
  context: SlackContext,
  by: { readonly userId: string; readonly teamId: string | null },
  viewId: string,
  where: ReviewContext,
  values: Entered,
): Promise<void> {
  const content = readLongField(values, CONTENT, where.glue ?? '');
  const audience = { userId: by.userId, channel: where.channel || null, threadTs: where.threadTs };
  const done = await decide(context, where.seen, by.userId, by.teamId, { kind: 'approve', content });
  const promotion = await context.deps.memory.promotions.get(readSeen(where.seen)?.jobId ?? '');
  // Whoever may not decide is shown nothing of what waits.
  const isTheirs = done.ok || !(await mayDecide(context, context.deps.memory, by.userId, by.teamId));
  const view = done.ok
    ? noticeView('Approved', 'What you wrote is now part of everybody’s memory.')
    : promotion?.state === 'pending' && isTheirs
      ? editPromotionView(where, promotion, content, done.reason)
      : noticeView('Not approved', done.reason);
  await context.client.views.update({ view_id: viewId, view }).catch((error: unknown) => {
    context.deps.log.warn({ code: codeOf(error) }, 'a window was closed before its answer');
    return context.tell(audience, { text: done.ok ? 'Approved, as you have edited it.' : done.reason });
  });
}

/** Tries the steps once more, for a system that was down. */
export async function rehearse(context: SlackContext, pressed: Pressed): Promise<void> {
  const { memory } = context.deps;
  const refused = await mayDecide(context, memory, pressed.userId, pressed.teamId);
  if (refused) return context.tell(pressed.audience, { text: refused.reason });
  await memory.promotions.rehearse(pressed.value);
  const review = await memory.promotions.review(pressed.value);
  const text = review?.dryRun?.passed
    ? 'Its steps run now.'
    : 'Its steps still do not run: the card says why.';
  await context.tell(pressed.audience, { text });
}

export const showPromotion = (context: SlackContext, pressed: Pressed): Promise<void> =>
  show(context, pressed, 'Proposal', async () => {
    const promotion = await context.deps.memory.promotions.get(pressed.value);
    if (!promotion) return gone.reason;
    const { incidentId } = promotion;
    // All of a draft is for who decides on it, and for who may read of where it comes from.
    const may =
      !incidentId ||
      (await isAdminNow(context, pressed.userId)) ||
      (await mayLook(context, pressed, incidentId));
    return may ? promotionView(promotion) : notYourDraft(incidentId);
  });

export const showSources = (context: SlackContext, pressed: Pressed): Promise<void> =>
  show(context, pressed, 'Where it came from', async () => {
    const promotion = await context.deps.memory.promotions.get(pressed.value);
    if (!promotion) return gone.reason;
    // The card shows the draft to all admins; what was read and said where it comes from is for those who may see that channel.
    if (promotion.incidentId && !(await mayLook(context, pressed, promotion.incidentId)))
      return notYourDraft(promotion.incidentId);
    const ids = promotion.sources
      .filter(({ ref }) => ref.startsWith('tc_'))
      .map(({ ref }) => asToolCallId(ref));
    const calls = await Promise.all(
      [...new Set(ids)].slice(0, 40).map((id) => context.deps.records.toolCall(id)),
    );
    return sourcesView(
      promotion,
      await incidentOf(context, promotion),
      calls.filter((call) => call !== null),
    );
  });

const notYourDraft = (id: IncidentId): string =>
  `It comes from ${id}, in a channel that you may not see, or Slack cannot say that you may.`;

const gone = refuse('MEMORY_NOT_FOUND', 'This proposal is not on record any more. Nothing was decided.');

async function incidentOf(context: SlackContext, { incidentId }: Promotion) {
  if (!incidentId) return null;
  const record = await context.deps.records.load(incidentId);
  const { channel, threadTs, title } = record?.incident ?? {};
  const url = channel && threadTs ? messageUrl(context.identity(), channel, threadTs) : null;
  return { name: title ? `${incidentId} ${title}` : incidentId, url };
}

/** Opens a window for somebody who may decide what still waits; everybody else is told why not. */
async function ask(
  context: SlackContext,
  pressed: Pressed,
  make: (
    promotion: Promotion,
    where: { readonly channel: string; readonly threadTs: string | null },
  ) => Parameters<SlackContext['client']['views']['open']>[0]['view'],
): Promise<void> {
  const { memory } = context.deps;
  const seen = readSeen(pressed.value);
  const promotion = seen && (await memory.promotions.get(seen.jobId));
  const no = promotion ? await mayDecide(context, memory, pressed.userId, pressed.teamId) : gone;
  if (no || !promotion) return context.tell(pressed.audience, { text: (no ?? gone).reason });
  if (promotion.state !== 'pending') {
    context.outbound.pressed(asProposalId(promotion.jobId));
    return context.tell(pressed.audience, { text: await formatDecision(context, promotion) });
  }
  const { channel, threadTs } = pressed.audience;
  try {
    await context.client.views.open({
      trigger_id: pressed.triggerId,
      view: make(promotion, { channel: channel ?? '', threadTs }),
    });
  } catch (error) {
    context.deps.log.warn({ code: codeOf(error) }, 'a window did not open');
    await context.tell(pressed.audience, {
      text: 'The window did not open in time. Please press the button again.',
    });
  }
}

/** Decides, and answers whoever may not, is late, or pressed twice. */
async function settle(
  context: SlackContext,
  value: string,
  audience: Audience,
  teamId: string | null,
  decision: Decision,
): Promise<void> {
  const done = await decide(context, value, audience.userId, teamId, decision);
  if (!done.ok) await context.tell(audience, { text: done.reason });
}

async function decide(
  context: SlackContext,
  value: string,
  userId: string,
  teamId: string | null,
  decision: Decision,
): Promise<{ readonly ok: true } | Refusal> {
  const { memory, log } = context.deps;
  const seen = readSeen(value);
  if (!seen) return gone;
  try {
    const may = await context.directory.mayAct(userId, teamId);
    if (!may.ok) return may;
    const decided = await memory.promotions.decide({
      jobId: seen.jobId,
      by: userId,
      decision,
      currentSha256: seen.current,
    });
    if (decided.ok) return { ok: true };
    if (decided.code === 'MEMORY_STALE')
      return refuse(
        'MEMORY_STALE',
        'What it would replace has been changed since this card was drawn. Look at the card again, then decide.',
      );
    const promotion = decided.code === 'MEMORY_DECIDED' ? await memory.promotions.get(seen.jobId) : null;
    return promotion ? refuse(decided.code, await formatDecision(context, promotion)) : decided;
  } catch (error) {
    log.error({ proposal: seen.jobId, error: messageOf(error) }, 'a decision could not be recorded');
    return refuse(
      'NOT_RECORDED',
      'Your decision could not be recorded. Nothing has changed. Please try again in a moment.',
    );
  } finally {
    // The card shows what is on record now, whoever decided.
    context.outbound.pressed(asProposalId(seen.jobId));
  }
}

async function mayDecide(
  context: SlackContext,
  memory: SlackMemory,
  userId: string,
  teamId: string | null,
): Promise<Refusal | undefined> {
  const may = await context.directory.mayAct(userId, teamId);
  if (!may.ok) return may;
  try {
    return (await memory.isAdmin(userId))
      ? undefined
      : refuse(
          'NOT_ADMIN',
          `Only admins decide what everybody’s memory says: ${(await formatPrincipal(context, memory.admins)) ?? 'nobody yet'}.`,
        );
  } catch (error) {
    context.deps.log.warn({ error: messageOf(error) }, 'who is an admin cannot be told');
    return refuse(
      'ADMINS_UNKNOWN',
      'Slack could not say who is an admin, so nobody is right now. Try again in a minute.',
    );
  }
}

async function formatDecision(context: SlackContext, { state, decidedBy }: Promotion): Promise<string> {
  const who = decidedBy ? await context.directory.name(decidedBy) : 'Somebody';
  return `${who} has ${state} this already. It is decided once.`;
}
