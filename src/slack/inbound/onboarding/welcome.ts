import { messageOf } from '../../../core/errors.ts';
import type { SlackContext } from '../../context.ts';
import { mayWelcome } from '../../people/may-set-up.ts';
import { welcomeBlocks } from '../../views/onboarding.ts';

/** Whoever may set Sentry up is told once how, as soon as they come by. Never throws: what they came for is done. */
export async function welcome(context: SlackContext, userId: string): Promise<void> {
  try {
    if (!(await mayWelcome(context, userId))) return;
    const text = 'Welcome. Nobody can approve a fix yet: press “Set up Sentry”, or type /sentry settings.';
    await context.direct.tell(userId, 'welcome', {
      slot: 'welcome',
      inThread: false,
      text,
      blocks: welcomeBlocks(),
    });
  } catch (error) {
    context.deps.log.warn({ user: userId, error: messageOf(error) }, 'a welcome did not arrive');
  }
}
