import type { App, MessageShortcut } from '@slack/bolt';
import { messageOf } from '../../../core/errors.ts';
import type { SlackContext } from '../../context.ts';
import { addToMemory } from './add-to-memory.ts';
import { investigateThis } from './investigate-this.ts';
import { notAnIncident } from './not-an-incident.ts';
import { readShortcut, type Shortcut } from './shortcut.ts';

/** What stands behind the three dots of every message, by its `callback_id` in manifest.yml. */
export const SHORTCUTS: Readonly<
  Record<string, (context: SlackContext, shortcut: Shortcut) => Promise<void>>
> = {
  investigate_message: investigateThis,
  remember_message: addToMemory,
  not_an_incident: notAnIncident,
};

/** Message shortcuts: acknowledged at once, and answered to whoever chose one. */
export function registerShortcuts(app: App, context: SlackContext): void {
  app.shortcut(/.*/, async ({ ack, body, respond }) => {
    await ack();
    const run = Object.hasOwn(SHORTCUTS, body.callback_id) ? SHORTCUTS[body.callback_id] : undefined;
    if (body.type !== 'message_action' || !run) {
      const channel = body.type === 'message_action' ? body.channel.id : null;
      const text = 'I know no such shortcut. Type `/sentry help` to see what I can do.';
      return context.tell({ userId: body.user.id, channel, threadTs: null }, { text });
    }
    const shortcut = readShortcut(body as MessageShortcut, respond);
    const { userId, teamId, to } = shortcut;
    const may = await context.directory.mayAct(userId, teamId);
    if (!may.ok) return context.tell(to, { text: may.reason });
    await run(context, shortcut).catch((error: unknown) => {
      context.deps.log.error({ shortcut: body.callback_id, error: messageOf(error) }, 'a shortcut failed');
      return context.tell(to, { text: 'That did not work. Please try again in a moment.' });
    });
  });
}
