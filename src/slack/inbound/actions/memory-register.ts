import type { App, ViewSubmitAction } from '@slack/bolt';
import type { SlackContext } from '../../context.ts';
import { MEMORY_ACTIONS } from '../../views/blocks/promotion-card.ts';
import {
  DOCUMENT_EDIT_VIEW,
  type DocumentContext,
  PROPOSAL,
  PROPOSE_VIEW,
} from '../../views/memory-views.ts';
import {
  noticeView,
  PROMOTION_EDIT_VIEW,
  PROMOTION_REJECT_VIEW,
  type ReviewContext,
} from '../../views/promotion-views.ts';
import {
  documentEdited,
  editDocument,
  proposeDocument,
  proposed,
  retireDocument,
  rollBackDocument,
  showDocument,
} from './memory.ts';
import type { Pressed } from './pressed.ts';
import {
  approvedWithEdits,
  approvePromotion,
  editPromotion,
  rehearse,
  rejected,
  rejectPromotion,
  showPromotion,
  showSources,
} from './promotion.ts';

type Handler = (context: SlackContext, pressed: Pressed) => Promise<void>;

/** A card stands in the channel itself: an answer in a thread below it would be seen by nobody. */
const onCard =
  (handler: Handler): Handler =>
  (context, pressed) =>
    handler(context, { ...pressed, audience: { ...pressed.audience, threadTs: null } });

/** What the buttons of promotion and of memory documents do. */
export const memoryHandlers: Readonly<Record<string, Handler>> = {
  [MEMORY_ACTIONS.approve]: onCard(approvePromotion),
  [MEMORY_ACTIONS.edit]: onCard(editPromotion),
  [MEMORY_ACTIONS.reject]: onCard(rejectPromotion),
  [MEMORY_ACTIONS.show]: onCard(showPromotion),
  [MEMORY_ACTIONS.sources]: onCard(showSources),
  [MEMORY_ACTIONS.rehearse]: onCard(rehearse),
  [MEMORY_ACTIONS.propose]: proposeDocument,
  [MEMORY_ACTIONS.document]: showDocument,
  [MEMORY_ACTIONS.documentEdit]: editDocument,
  [MEMORY_ACTIONS.rollBack]: rollBackDocument,
  [MEMORY_ACTIONS.retire]: retireDocument,
};

/** What their windows do. Trying steps takes longer than Slack waits: such a window says so, and then what came of it. */
export function registerMemoryViews(app: App, context: SlackContext): void {
  const by = ({ user }: ViewSubmitAction) => ({ userId: user.id, teamId: user.team_id ?? null });
  const waiting = (title: string) => noticeView(title, 'One moment: it is being checked …');

  app.view<ViewSubmitAction>(PROMOTION_REJECT_VIEW, async ({ ack, body, view }) => {
    await ack();
    await rejected(context, by(body), JSON.parse(view.private_metadata) as ReviewContext, view.state.values);
  });
  app.view<ViewSubmitAction>(PROMOTION_EDIT_VIEW, async ({ ack, body, view }) => {
    await ack({ response_action: 'update', view: waiting('Approve with edits') });
    const where = JSON.parse(view.private_metadata) as ReviewContext;
    await approvedWithEdits(context, by(body), view.id, where, view.state.values);
  });
  app.view<ViewSubmitAction>(DOCUMENT_EDIT_VIEW, async ({ ack, body, view }) => {
    await ack({ response_action: 'update', view: waiting('Edit memory') });
    const where = JSON.parse(view.private_metadata) as DocumentContext;
    await documentEdited(context, by(body), view.id, where, view.state.values);
  });
  app.view<ViewSubmitAction>(PROPOSE_VIEW, async ({ ack, body, view }) => {
    const where = JSON.parse(view.private_metadata) as DocumentContext;
    const answer = await proposed(context, by(body), where, view.state.values);
    if (answer.ok) await ack();
    else await ack({ response_action: 'errors', errors: { [`${PROPOSAL.text}_0`]: answer.reason } });
  });
}
