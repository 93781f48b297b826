import { createHash, randomBytes } from 'node:crypto';
import { LIMITS } from '../limits.ts';
import { SENTRY_APP, TEAM } from '../seed.ts';
import type { Method, MethodCall, SlackContext } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';
import type { View } from '../slack-shapes.ts';
import { acceptView, type ViewContent } from '../validate/view.ts';

/** `views.*`. The stack of open modals belongs to a person; `views.update` finds a view by id or external id. */
export const viewMethods: Readonly<Record<string, Method>> = {
  'views.open': (call) => {
    const content = acceptView(call.args.raw('view'), 'modal');
    const userId = exchange(call);
    refuseUsedExternalId(call.slack, content.external_id);
    const view = makeView(content, undefined);
    call.slack.workspace.putViews(userId, [view]);
    return { view };
  },

  'views.push': (call) => {
    const content = acceptView(call.args.raw('view'), 'modal');
    const userId = exchange(call);
    return { view: pushView(call.slack, userId, content) };
  },

  'views.update': (call) => {
    const found = findView(call);
    const content = acceptView(call.args.raw('view'), found.view.type);
    const hash = call.args.text('hash');
    if (hash !== undefined && hash !== found.view.hash) throw new SlackError('hash_conflict');
    return { view: replaceView(call.slack, found.userId, found.view, content) };
  },

  'views.publish': (call) => {
    const content = acceptView(call.args.raw('view'), 'home');
    const user = call.slack.workspace.user(call.args.required('user_id'));
    const before = call.slack.workspace.home(user.id);
    const hash = call.args.text('hash');
    if (hash !== undefined && before !== undefined && hash !== before.hash)
      throw new SlackError('hash_conflict');
    const fresh = makeView(content, undefined);
    const view = before === undefined ? fresh : { ...fresh, id: before.id, root_view_id: before.id };
    call.slack.workspace.putHome(user.id, view);
    return { view };
  },
};

/** Puts a view on top of a person's stack. Throws `push_limit_reached`. */
export function pushView(slack: SlackContext, userId: string, content: ViewContent): View {
  const stack = slack.workspace.views(userId);
  if (stack.length >= LIMITS.view.stack) throw new SlackError('push_limit_reached');
  refuseUsedExternalId(slack, content.external_id);
  const view = makeView(content, stack.at(-1));
  slack.workspace.putViews(userId, [...stack, view]);
  return view;
}

/** Redraws an open view; what the user typed stays with the page. */
export function replaceView(slack: SlackContext, userId: string, before: View, content: ViewContent): View {
  const view: View = {
    ...makeView(content, undefined),
    id: before.id,
    root_view_id: before.root_view_id,
    previous_view_id: before.previous_view_id,
  };
  if (before.type === 'home') slack.workspace.putHome(userId, view);
  else {
    const stack = slack.workspace.views(userId).map((each) => (each.id === before.id ? view : each));
    slack.workspace.putViews(userId, stack);
  }
  return view;
}

function exchange(call: MethodCall): string {
  return call.slack.triggers.exchange(call.args.required('trigger_id'));
}

function findView(call: MethodCall): { readonly userId: string; readonly view: View } {
  const id = call.args.text('view_id');
  const externalId = call.args.text('external_id');
  if (id === undefined && externalId === undefined) {
    throw new SlackError('invalid_arguments', ['[ERROR] missing required field: view_id']);
  }
  const { workspace } = call.slack;
  const open = workspace.viewStacks().flatMap(([userId, stack]) => stack.map((view) => ({ userId, view })));
  const homes = workspace.homes().map(([userId, view]) => ({ userId, view }));
  const found = [...open, ...homes].find(({ view }) =>
    id === undefined ? view.external_id === externalId : view.id === id,
  );
  if (found === undefined) throw new SlackError('not_found');
  return found;
}

function refuseUsedExternalId(slack: SlackContext, externalId: string): void {
  if (externalId === '') return;
  const used = slack.workspace
    .viewStacks()
    .some(([, stack]) => stack.some((view) => view.external_id === externalId));
  if (used) throw new SlackError('duplicate_external_id');
}

function makeView(content: ViewContent, below: View | undefined): View {
  const id = `V${randomBytes(5).toString('hex').toUpperCase()}`;
  const hash = createHash('sha1').update(JSON.stringify(content)).update(id).digest('hex').slice(0, 8);
  return {
    ...content,
    id,
    team_id: TEAM.id,
    app_id: SENTRY_APP.id,
    bot_id: SENTRY_APP.botId,
    state: { values: {} },
    hash: `${Date.now()}.${hash}`,
    root_view_id: below?.root_view_id ?? id,
    previous_view_id: below?.id ?? null,
  };
}
