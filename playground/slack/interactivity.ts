import { defined } from '../../src/core/defined.ts';
import { elementsOf, findElement, inputProblem, stateFrom, stateOf } from './elements.ts';
import { pushView, replaceView } from './methods/views.ts';
import type { ActionContainer, PageActions, PageAnswer } from './page-api.ts';
import { readForm } from './posting.ts';
import { SENTRY_APP, TEAM } from './seed.ts';
import type { SlackContext } from './slack-context.ts';
import { SlackError } from './slack-error.ts';
import type { Block, Message, View } from './slack-shapes.ts';
import { isRecord } from './validate/rules.ts';
import { acceptView } from './validate/view.ts';

type Body<Name extends keyof PageActions> = PageActions[Name];

/** Where the user acted, resolved: the blocks there, and Slack's description of the place. */
interface Place {
  readonly blocks: readonly Block[];
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A button, select, picker: `block_actions`. */
export async function blockAction(slack: SlackContext, body: Body<'block.action'>): Promise<PageAnswer> {
  const place = placeOf(slack, body.userId, body.container, true, body.form);
  const { element } = findElement(place.blocks, body.block_id, body.action_id);
  const action = {
    ...stateFrom(element, body.input),
    action_id: body.action_id,
    block_id: body.block_id,
    ...defined({ text: element['text'], style: element['style'], url: element['url'] }),
    action_ts: slack.workspace.nextTs(),
  };
  return tellApp(slack, body.userId, 'block_actions', { ...place.payload, actions: [action] });
}

/** Asks the app for the options of an external select. */
export async function loadOptions(slack: SlackContext, body: Body<'options.load'>): Promise<PageAnswer> {
  const place = placeOf(slack, body.userId, body.container, false);
  findElement(place.blocks, body.block_id, body.action_id);
  const ack = await slack.events.interactive(
    {
      ...common(slack, body.userId, 'block_suggestion'),
      ...place.payload,
      action_id: body.action_id,
      block_id: body.block_id,
      value: body.query,
    },
    true,
  );
  if (!ack.acked) return dispatchFailed(slack, body.userId);
  const options = isRecord(ack.body) && Array.isArray(ack.body['options']) ? ack.body['options'] : [];
  return { ok: true, options: options as Block[] };
}

/** Submits the modal on top: checks the inputs as Slack's client does, then does what the app answers. */
export async function submitView(slack: SlackContext, body: Body<'view.submit'>): Promise<PageAnswer> {
  const view = topView(slack, body.userId, body.viewId);
  const values = stateOf(view.blocks, body.form);
  const errors: Record<string, string> = {};
  for (const { blockId, block, element } of elementsOf(view.blocks)) {
    if (block.type !== 'input') continue;
    const problem = inputProblem(block, values[blockId]?.[String(element['action_id'])]);
    if (problem !== undefined) errors[blockId] = problem;
  }
  if (Object.keys(errors).length > 0) return { ok: true, errors };
  const submitted = { ...view, state: { values } };
  const ack = await slack.events.interactive(
    { ...common(slack, body.userId, 'view_submission'), view: submitted, response_urls: [] },
    true,
  );
  if (!ack.acked) return dispatchFailed(slack, body.userId);
  return afterSubmission(slack, body.userId, view, ack.body);
}

/** Closes the modal on top, or all of them; tells the app if it asked to know. */
export async function closeView(slack: SlackContext, body: Body<'view.close'>): Promise<PageAnswer> {
  const stack = slack.workspace.views(body.userId);
  const view = topView(slack, body.userId, body.viewId);
  const all = body.all === true || view.clear_on_close;
  slack.workspace.putViews(body.userId, all ? [] : stack.slice(0, -1));
  if (!view.notify_on_close) return { ok: true };
  return tellApp(slack, body.userId, 'view_closed', { view, is_cleared: all });
}

export function messageShortcut(slack: SlackContext, body: Body<'shortcut.message'>): Promise<PageAnswer> {
  const channel = slack.workspace.channelFor(body.channel, body.userId);
  const message = slack.workspace.message(channel.id, body.ts);
  const place = { userId: body.userId, channel: channel.id, messageTs: message.ts };
  return tellApp(slack, body.userId, 'message_action', {
    callback_id: body.callback_id,
    action_ts: slack.workspace.nextTs(),
    channel: { id: channel.id, name: channel.name },
    message_ts: message.ts,
    message: { type: 'message', ...readForm(message, false) },
    response_url: slack.responseUrls.issue(place),
  });
}

export function globalShortcut(slack: SlackContext, body: Body<'shortcut.global'>): Promise<PageAnswer> {
  const action_ts = slack.workspace.nextTs();
  return tellApp(slack, body.userId, 'shortcut', { callback_id: body.callback_id, action_ts });
}

/** Hands on what the app answers nothing to. */
async function tellApp(
  slack: SlackContext,
  userId: string,
  type: string,
  payload: Readonly<Record<string, unknown>>,
): Promise<PageAnswer> {
  const ack = await slack.events.interactive({ ...common(slack, userId, type), ...payload }, false);
  return ack.acked ? { ok: true } : dispatchFailed(slack, userId);
}

/** What Slack shows when an app has not answered in time. */
export function dispatchFailed(slack: SlackContext, userId: string): PageAnswer {
  const text = `${SENTRY_APP.name} did not respond in time. Is the app running?`;
  slack.workspace.publish({ type: 'notice', userId, text });
  return { ok: false, error: 'dispatch_failed', reason: text };
}

function afterSubmission(slack: SlackContext, userId: string, view: View, body: unknown): PageAnswer {
  const answer = isRecord(body) ? body : {};
  const stack = slack.workspace.views(userId);
  switch (answer['response_action']) {
    case undefined:
      slack.workspace.putViews(
        userId,
        stack.filter((each) => each.id !== view.id),
      );
      return { ok: true };
    case 'clear':
      slack.workspace.putViews(userId, []);
      return { ok: true };
    case 'errors':
      return { ok: true, errors: answer['errors'] as Record<string, string> };
    case 'update':
      replaceView(slack, userId, view, acceptView(answer['view'], 'modal'));
      return { ok: true };
    case 'push':
      pushView(slack, userId, acceptView(answer['view'], 'modal'));
      return { ok: true };
    default:
      throw new SlackError('invalid_response_action');
  }
}

function topView(slack: SlackContext, userId: string, viewId: string): View {
  const view = slack.workspace.views(userId).at(-1);
  if (view === undefined || view.id !== viewId) throw new SlackError('view_not_found');
  return view;
}

function placeOf(
  slack: SlackContext,
  userId: string,
  container: ActionContainer,
  withResponseUrl: boolean,
  form: PageActions['block.action']['form'] = {},
): Place {
  if (container.type === 'view') return viewPlace(slack, userId, container.viewId, form);
  const { workspace } = slack;
  const channel = workspace.channelFor(container.channel, userId);
  const ephemeral = workspace.findEphemeral(userId, channel.id, container.ts);
  const message = ephemeral?.message ?? workspace.message(channel.id, container.ts);
  if (message.bot_id !== SENTRY_APP.botId) throw new SlackError('app_not_interactive');
  const isEphemeral = ephemeral !== undefined;
  const thread = message.thread_ts === undefined ? {} : { thread_ts: message.thread_ts };
  const target = { userId, channel: channel.id, messageTs: message.ts, ephemeral: isEphemeral, ...thread };
  const blocks = allBlocks(message);
  return {
    blocks,
    payload: {
      container: {
        type: 'message',
        message_ts: message.ts,
        channel_id: channel.id,
        is_ephemeral: isEphemeral,
        ...thread,
      },
      channel: { id: channel.id, name: channel.is_im ? 'directmessage' : channel.name },
      // Slack leaves an ephemeral message out: the app cannot read it.
      ...(isEphemeral ? {} : { message: { type: 'message', ...readForm(message, false) } }),
      state: { values: stateOf(blocks, form) },
      ...(withResponseUrl ? { response_url: slack.responseUrls.issue(target) } : {}),
    },
  };
}

function viewPlace(
  slack: SlackContext,
  userId: string,
  viewId: string,
  form: NonNullable<PageActions['block.action']['form']>,
): Place {
  const home = slack.workspace.home(userId);
  const view = home?.id === viewId ? home : slack.workspace.views(userId).find((each) => each.id === viewId);
  if (view === undefined) throw new SlackError('view_not_found');
  const filled = { ...view, state: { values: stateOf(view.blocks, form) } };
  return { blocks: view.blocks, payload: { container: { type: 'view', view_id: view.id }, view: filled } };
}

function allBlocks(message: Message): Block[] {
  return [...(message.blocks ?? []), ...(message.attachments ?? []).flatMap((each) => each.blocks ?? [])];
}

function common(slack: SlackContext, userId: string, type: string): Record<string, unknown> {
  const user = slack.workspace.user(userId);
  return {
    type,
    token: SENTRY_APP.verificationToken,
    api_app_id: SENTRY_APP.id,
    team: { id: TEAM.id, domain: TEAM.domain },
    user: { id: user.id, username: user.name, name: user.name, team_id: user.team_id },
    enterprise: null,
    is_enterprise_install: false,
    trigger_id: slack.triggers.issue(userId),
  };
}
