import type { OutboundStore } from '../outbound/store.ts';
import type { Drawing, ProposalId } from '../outbound/subject.ts';
import type { Channels } from '../people/channels.ts';
import { type Identity, messageUrl } from '../people/identity.ts';
import type { People } from '../people/people.ts';
import type { SlackMemory } from '../ports.ts';
import { drawForgottenCard, drawPromotionCard } from './blocks/promotion-card.ts';
import { principalWords } from './draw-options.ts';

/** The card of a proposal, for the admin channel; null when there is nothing to show and nothing stands there. */
export async function drawProposal(
  parts: {
    readonly memory: SlackMemory | undefined;
    readonly store: OutboundStore;
    readonly people: People;
    readonly channels: Channels;
    readonly identity: () => Identity;
  },
  id: ProposalId,
): Promise<Drawing | null> {
  const { memory, store, identity } = parts;
  if (!memory) return null;
  const channel = await parts.channels.idOf(memory.adminChannel);
  const review = await memory.promotions.review(id);
  if (!review) {
    const stands = (await store.posts(id)).size > 0;
    return stands ? { slots: [drawForgottenCard()], channel } : null;
  }
  const { incidentId } = review.promotion;
  const places = await store.places(incidentId ? [incidentId] : []);
  const admins = await principalWords(parts, memory.admins);
  const threadUrl = (incident: NonNullable<typeof incidentId>) => {
    const place = places.get(incident);
    return place ? messageUrl(identity(), place.channel, place.ts) : null;
  };
  return { slots: [drawPromotionCard(review, { threadUrl, admins })], channel };
}
