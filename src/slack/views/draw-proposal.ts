import type { OutboundStore } from '../outbound/store.ts';
import type { Drawing, ProposalId } from '../outbound/subject.ts';
import { messageUrl } from '../people/identity.ts';
import type { SlackDeps } from '../ports.ts';
import { drawForgottenCard, drawPromotionCard } from './blocks/promotion-card.ts';
import { formatPrincipal } from './draw-options.ts';

/** The card of a proposal, for the admin channel; null when there is nothing to show and nothing stands there. */
export async function drawProposal(
  { memory, workspace }: SlackDeps,
  store: OutboundStore,
  id: ProposalId,
): Promise<Drawing | null> {
  const channel = await workspace.channels.idOf(memory.adminChannel);
  const review = await memory.promotions.review(id);
  if (!review) {
    const stands = (await store.posts(id)).size > 0;
    return stands ? { slots: [drawForgottenCard()], channel } : null;
  }
  const { incidentId } = review.promotion;
  const places = await store.places(incidentId ? [incidentId] : []);
  const admins = await formatPrincipal(workspace, memory.admins);
  const threadUrl = (incident: NonNullable<typeof incidentId>) => {
    const place = places.get(incident);
    return place ? messageUrl(workspace.identity(), place.channel, place.ts) : null;
  };
  return { slots: [drawPromotionCard(review, { threadUrl, admins })], channel };
}
