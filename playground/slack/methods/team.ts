import { APPS, TEAM } from '../seed.ts';
import type { Method } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';

/** `auth.test`, `api.test`, `team.info`, `bots.info`, `apps.connections.open`. */
export const teamMethods: Readonly<Record<string, Method>> = {
  'api.test': (call) => {
    if (call.args.has('error')) throw new SlackError(call.args.required('error'));
    return { args: {} };
  },

  'auth.test': (call) => ({
    url: `${call.slack.baseUrl()}/`,
    team: TEAM.name,
    team_id: TEAM.id,
    user: call.slack.workspace.user(call.app.botUserId).name,
    user_id: call.app.botUserId,
    bot_id: call.app.botId,
    is_enterprise_install: false,
  }),

  'team.info': (call) => ({
    team: { ...TEAM, email_domain: '', icon: { image_default: true }, url: `${call.slack.baseUrl()}/` },
  }),

  'bots.info': (call) => {
    const bot = call.args.text('bot') ?? call.app.botId;
    const app = APPS.find((each) => each.botId === bot);
    if (app === undefined) throw new SlackError('bot_not_found');
    return {
      bot: {
        id: app.botId,
        app_id: app.id,
        user_id: app.botUserId,
        name: app.name,
        deleted: false,
        icons: {},
      },
    };
  },

  'apps.connections.open': (call) => ({ url: call.slack.sockets.ticketUrl(call.slack.baseUrl()) }),
};
