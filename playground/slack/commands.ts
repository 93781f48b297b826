import { dispatchFailed } from './interactivity.ts';
import type { PageActions, PageAnswer } from './page-api.ts';
import { respond } from './respond.ts';
import { COMMANDS, SENTRY_APP, TEAM } from './seed.ts';
import type { SlackContext } from './slack-context.ts';
import { escapeTyped } from './typed-text.ts';
import { isRecord } from './validate/rules.ts';

/** A slash command: sent once; what the app acknowledges with is shown to the user (or the channel). */
export async function runCommand(slack: SlackContext, body: PageActions['command.run']): Promise<PageAnswer> {
  const typed = body.text.trim();
  const space = typed.search(/\s/);
  const command = space < 0 ? typed : typed.slice(0, space);
  if (!COMMANDS.some((each) => each.command === command)) {
    return { ok: false, error: 'unknown_command', reason: `${command} is not a valid command.` };
  }
  const user = slack.workspace.user(body.userId);
  const channel = slack.workspace.channelFor(body.channel, user.id);
  const target = { userId: user.id, channel: channel.id };
  const ack = await slack.events.command({
    token: SENTRY_APP.verificationToken,
    team_id: TEAM.id,
    team_domain: TEAM.domain,
    channel_id: channel.id,
    channel_name: channel.is_im ? 'directmessage' : channel.name,
    user_id: user.id,
    user_name: user.name,
    command,
    text: space < 0 ? '' : escapeTyped(slack.workspace, typed.slice(space).trim(), true),
    api_app_id: SENTRY_APP.id,
    is_enterprise_install: 'false',
    response_url: slack.responseUrls.issue(target),
    trigger_id: slack.triggers.issue(user.id),
  });
  if (!ack.acked) return dispatchFailed(slack, user.id);
  const said = typeof ack.body === 'string' ? { text: ack.body } : ack.body;
  if (isRecord(said) && Object.keys(said).length > 0) respond(slack, target, said);
  return { ok: true };
}
