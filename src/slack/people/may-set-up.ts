import { messageOf, type Refusal, refuse } from '../../core/errors.ts';
import type { SlackContext } from '../context.ts';

/** As what somebody may change who decides. */
export interface Authority {
  readonly ok: true;
  readonly as: 'admin' | 'workspace admin';
}

/**
 * Whether somebody may change the settings: an admin in force, and while there is none, an owner or admin of this workspace. Nothing that
 * was heard before counts; what cannot be told is a no.
 */
export async function maySetUp(
  { directory, deps }: SlackContext,
  userId: string,
  teamId: string | null,
): Promise<Authority | Refusal> {
  const { settings, isAdmin } = deps.setUp;
  try {
    await settings.refresh();
    if (settings.admins.length === 0) {
      const runs = await directory.runsWorkspace(userId, teamId);
      return runs.ok ? { ok: true, as: 'workspace admin' } : runs;
    }
    const may = await directory.asOfNow().mayAct(userId, teamId);
    if (!may.ok) return may;
    return (await isAdmin(userId))
      ? { ok: true, as: 'admin' }
      : refuse('NOT_ADMIN', 'Only admins change the settings. /sentry settings says who they are.');
  } catch (error) {
    deps.log.warn(
      { user: userId, error: messageOf(error) },
      'whether somebody may set Sentry up cannot be told',
    );
    return refuse(
      'WHO_ARE_YOU',
      'I could not check with Slack who you are. Nothing is changed; please try again.',
    );
  }
}

/** Whether it is not set up yet, and they may do it. */
export async function mayWelcome(context: SlackContext, userId: string): Promise<boolean> {
  const { approvers, admins } = context.deps.setUp.settings;
  return (approvers.length === 0 || admins.length === 0) && (await maySetUp(context, userId, null)).ok;
}
