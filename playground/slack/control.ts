import { randomBytes } from 'node:crypto';
import { defined } from '../../src/core/defined.ts';
import { Arguments } from './arguments.ts';
import { duplicatesIn } from './call-counters.ts';
import type { ControlName, ControlRequests, Timing } from './control-api.ts';
import { contentOf } from './methods/message-content.ts';
import { pushView } from './methods/views.ts';
import type { PageSnapshot } from './page-api.ts';
import { change, emitIn, post } from './posting.ts';
import { ALERTMANAGER_APP, CHANNELS, channel as newChannel } from './seed.ts';
import { SlackError } from './slack-error.ts';
import { acceptView } from './validate/view.ts';
import type { WebApiParts } from './web-api.ts';

export interface ControlParts extends WebApiParts {
  readonly snapshot: () => PageSnapshot;
  readonly setTiming: (timing: Partial<Timing>) => void;
  readonly resetTiming: () => void;
  /** `null` for Socket Mode. With `verify`, resolves to whether the app echoed the challenge. */
  readonly setEventsUrl: (url: string | null, challenge?: string) => Promise<boolean>;
}

type Handlers = {
  readonly [Name in ControlName]: (
    body: ControlRequests[Name],
  ) => Record<string, unknown> | Promise<Record<string, unknown>>;
};

/** The control API's handlers; each answers what goes beside `ok: true`. */
export function controlHandlers(parts: ControlParts): Handlers {
  const { slack, switches, limits } = parts;
  return {
    reset: () => {
      switches.reset();
      parts.resetTiming();
      return {};
    },
    fail: (body) => done(() => switches.failNext(body)),
    'unknown-methods': (body) => done(() => switches.setUnknownMethods(body.methods)),
    'unknown-blocks': (body) => done(() => switches.setUnknownBlocks(body.types)),
    'drop-fields': (body) => done(() => switches.setDroppedFields(body.fields)),
    delay: (body) => done(() => switches.setDelay(body.ms, body.method)),
    freeze: (body) => done(() => switches.freeze(body.frozen)),
    'lose-events': (body) => done(() => switches.loseEvents(body.times, body.event)),
    'double-events': (body) => done(() => switches.doubleEvents(body.times, body.event)),
    disconnect: (body) => done(() => slack.sockets.disconnect(body.how)),
    'rate-limits': (body) =>
      done(() => {
        limits.enabled = body.enabled ?? limits.enabled;
        limits.speed = body.speed ?? limits.speed;
      }),
    timing: (body) => done(() => parts.setTiming(body)),
    'events-url': async (body) => {
      const challenge = body.verify === true ? randomBytes(8).toString('hex') : undefined;
      const verified = await parts.setEventsUrl(body.url, challenge);
      if (body.verify === true && !verified) throw new SlackError('url_not_verified');
      return {};
    },
    'emit-event': (body) => {
      const { channel } = body.event;
      if (typeof channel === 'string') emitIn(slack, channel, body.event);
      else slack.events.emit(body.event);
      return {};
    },
    'post-as-app': (body) => {
      const { channel = CHANNELS.alerts, kind = 'classic', thread_ts, username, ...content } = body;
      const message = post(slack, {
        ...contentOf(new Arguments(content)),
        channel,
        author: {
          kind: kind === 'classic' ? 'webhook' : 'app',
          app: ALERTMANAGER_APP,
          ...defined({ username }),
        },
        ...defined({ thread_ts }),
      });
      return { ts: message.ts, channel };
    },
    'update-as-app': (body) => {
      const { channel, ts, ...content } = body;
      const message = slack.workspace.message(channel, ts);
      if (message.bot_id !== ALERTMANAGER_APP.botId) throw new SlackError('cant_update_message');
      change(slack, message, contentOf(new Arguments(content)), { editor: ALERTMANAGER_APP.botUserId });
      return { ts };
    },
    'channel-privacy': (body) => {
      const channel = slack.workspace.channel(body.channel);
      slack.workspace.putChannel({ ...channel, is_private: body.is_private });
      return {};
    },
    channel: ({ id, ...changes }) => {
      const known = slack.workspace.channels().find((each) => each.id === id);
      slack.workspace.putChannel({ ...(known ?? newChannel(id, id.toLowerCase(), '', [])), ...changes });
      return {};
    },
    user: ({ id, ...changes }) => {
      slack.workspace.putUser({ ...slack.workspace.user(id), ...changes });
      return {};
    },
    scopes: (body) => done(() => switches.setScopes(body.scopes)),
    'user-group': (body) => {
      const group = slack.workspace.userGroups().find((each) => each.id === body.id);
      if (group === undefined) throw new SlackError('no_such_subteam');
      slack.workspace.putUserGroup({ ...group, users: body.users });
      return {};
    },
    guest: ({ userId, is_restricted }) =>
      done(() => slack.workspace.putUser({ ...slack.workspace.user(userId), is_restricted })),
    'open-view': ({ userId, view }) => {
      slack.workspace.putViews(userId, []);
      return { view: pushView(slack, userId, acceptView(view, 'modal')) };
    },
    messages: (body) => {
      const channels =
        body.channel === undefined ? slack.workspace.channels().map((each) => each.id) : [body.channel];
      const all = channels.flatMap((channel) => slack.workspace.messages(channel));
      const { thread_ts: thread } = body;
      const wanted =
        thread === undefined ? all : all.filter((each) => each.ts === thread || each.thread_ts === thread);
      return { messages: wanted };
    },
    snapshot: () => ({ snapshot: parts.snapshot() }),
    counters: () => ({
      counters: {
        calls: parts.counters.calls(),
        duplicates: duplicatesIn(slack.workspace),
        events: slack.events.counts(),
      },
    }),
    deliveries: () => ({ deliveries: slack.events.records() }),
  };
}

function done(act: () => void): Record<string, unknown> {
  act();
  return {};
}
