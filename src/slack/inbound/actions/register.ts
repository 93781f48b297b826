import type { App, BlockAction, ButtonAction, OverflowAction, ViewSubmitAction } from '@slack/bolt';
import type { SlackContext } from '../../context.ts';
import { ACTIONS } from '../../views/blocks/slot.ts';
import { DENY_VIEW, readDeny } from '../../views/deny.ts';
import { registerSettings, settingsHandlers } from '../onboarding/settings.ts';
import { approveAfterAll, itDidNotRun, itRan, runRest, takeNoBack, undo } from './afterwards.ts';
import { chooseOnCard, registerCardMore } from './card-more.ts';
import { approve, deny, settle } from './decide.ts';
import { askToDig, registerDigDeeper } from './dig-deeper.ts';
import { showDraft } from './draft-runbook.ts';
import { gradeHandlers } from './grade.ts';
import { homeHandlers, registerHomeViews } from './home.ts';
import { investigate } from './investigate.ts';
import { memoryHandlers, registerMemoryViews } from './memory-register.ts';
import { chooseMore, registerOrders, resumeIt, stopIt } from './orders.ts';
import { type Pressed, readPress } from './pressed.ts';
import { makeReport } from './report.ts';
import { readItAgain, registerReadAgain, showGrant } from './retry-read.ts';
import { shareIt } from './share.ts';
import { showDiagnosis, showEvidence, showOutput, showSteps, showWhy, turnPage } from './show.ts';
import { putBack, splitOff } from './split.ts';
import { pageThemNow, takeIt } from './take.ts';

export type Handler = (context: SlackContext, pressed: Pressed) => Promise<void>;

/** What every button does, by its `action_id`. */
export const ACTION_HANDLERS: Readonly<Record<string, Handler>> = {
  [ACTIONS.approve]: approve,
  [ACTIONS.deny]: deny,
  [ACTIONS.undo]: undo,
  [ACTIONS.afterAll]: approveAfterAll,
  [ACTIONS.takeBack]: takeNoBack,
  [ACTIONS.rest]: runRest,
  [ACTIONS.ran]: itRan,
  [ACTIONS.didNotRun]: itDidNotRun,
  [ACTIONS.output]: showOutput,
  [`${ACTIONS.outputPage}_next`]: turnPage,
  [`${ACTIONS.outputPage}_back`]: turnPage,
  [ACTIONS.evidence]: showEvidence,
  [ACTIONS.why]: showWhy,
  [ACTIONS.steps]: showSteps,
  [ACTIONS.diagnosis]: showDiagnosis,
  [ACTIONS.dig]: askToDig,
  [ACTIONS.investigate]: investigate,
  // As it was called in messages that still stand.
  sentry_again: investigate,
  [ACTIONS.readAgain]: readItAgain,
  [ACTIONS.grant]: showGrant,
  [ACTIONS.split]: splitOff,
  [ACTIONS.putBack]: putBack,
  [ACTIONS.take]: takeIt,
  [ACTIONS.page]: pageThemNow,
  [ACTIONS.stop]: stopIt,
  [ACTIONS.resume]: resumeIt,
  [ACTIONS.more]: chooseMore,
  [ACTIONS.cardMore]: chooseOnCard,
  [ACTIONS.share]: shareIt,
  [ACTIONS.report]: makeReport,
  [ACTIONS.draftRunbook]: showDraft,
  ...memoryHandlers,
  ...gradeHandlers,
  ...homeHandlers,
  ...settingsHandlers,
  // The browser opens the link; there is nothing to do but to acknowledge.
  [ACTIONS.link]: async () => undefined,
};

/** Buttons and windows. Whatever it is, it is acknowledged at once and answered. */
export function registerActions(app: App, context: SlackContext): void {
  app.action<BlockAction<ButtonAction | OverflowAction>>(/.*/, async ({ ack, body, respond }) => {
    await ack();
    if (body.type !== 'block_actions') return;
    const pressed = readPress(body, respond);
    const handler =
      ACTION_HANDLERS[
        (body.actions[0]?.action_id ?? '').replace(/(?<=roll_back|split|put_back|diagnosis)_\d+$/, '')
      ] ?? unknownButton;
    await handler(context, pressed);
  });

  app.view<ViewSubmitAction>(DENY_VIEW, async ({ ack, body, view }) => {
    await ack();
    const { context: where, reason, anotherWay, reach } = readDeny(view);
    const audience = { userId: body.user.id, channel: where.channel || null, threadTs: where.threadTs };
    const verdict = { decision: 'deny', reason, anotherWay, reach } as const;
    await settle(context, where.plan, audience, body.user.team_id ?? null, verdict);
  });

  registerMemoryViews(app, context);
  registerDigDeeper(app, context);
  registerReadAgain(app, context);
  registerOrders(app, context);
  registerCardMore(app, context);
  registerHomeViews(app, context);
  registerSettings(app, context);
}

const unknownButton: Handler = (context, pressed) =>
  context.tell(pressed.audience, { text: 'I do not know this button any more. Nothing was done.' });
