import type { App } from '@slack/bolt';
import { messageOf } from '../../../core/errors.ts';
import type { SlackContext } from '../../context.ts';
import type { Say } from '../../outbound/tell.ts';
import { sentryCommand } from './sentry-command.ts';

/** `/sentry`, answered to whoever typed it. */
export function registerCommands(app: App, context: SlackContext): void {
  app.command(/.*/, async ({ ack, command, respond }) => {
    await ack();
    const threadTs = (command as { readonly thread_ts?: string }).thread_ts ?? null;
    const place = { channel: command.channel_id, threadTs };
    const to = { userId: command.user_id, ...place, respond };
    const asked = {
      ...place,
      userId: command.user_id,
      teamId: command.team_id ?? null,
      text: command.text ?? '',
      say: (say: Say) => void context.tell(to, say),
    };
    const say = await sentryCommand(context, asked).catch((error: unknown) => {
      context.deps.log.error({ command: command.text, error: messageOf(error) }, 'a command failed');
      return { text: 'That did not work: the record cannot be read now. Please try again in a moment.' };
    });
    await context.tell(to, say);
  });
}
