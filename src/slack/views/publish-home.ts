import { messageOf } from '../../core/errors.ts';
import type { SlackContext } from '../context.ts';
import { isUnknownMethod } from '../outbound/web-errors.ts';
import { readableBy } from '../people/access.ts';
import { messageUrl } from '../people/identity.ts';
import { mayWelcome } from '../people/may-set-up.ts';
import { closedHome, homeView } from './home.ts';
import { welcomeBlocks } from './onboarding.ts';

/** Of the newest incidents: those that this person may read are shown. */
const LOOKED_AT = 200;

/** Draws a person's Home: what they may read, and for admins what is theirs. */
export async function publishHome(context: SlackContext, userId: string): Promise<void> {
  const may = await context.directory.mayLook(userId, null);
  const home = may.ok ? await drawn(context, userId) : closedHome(may.reason);
  const view = {
    ...home,
    blocks: [...((await mayWelcome(context, userId)) ? welcomeBlocks() : []), ...home.blocks],
  };
  await context.client.views.publish({ user_id: userId, view }).catch((error: unknown) => {
    if (!isUnknownMethod(error)) throw error;
  });
}

async function drawn(context: SlackContext, userId: string): Promise<ReturnType<typeof homeView>> {
  const { deps, identity, channels } = context;
  const { memory } = deps;
  /** A part that cannot be told is left out; the rest of Home is more use than none. */
  const orNull = <T>(what: string, asked: Promise<T>): Promise<T | null> =>
    asked.catch((error: unknown) => {
      deps.log.warn({ what, error: messageOf(error) }, 'a part of App Home cannot be told');
      return null;
    });
  const [open, newest, facts, summary, adminChannel] = await Promise.all([
    deps.records.list({ limit: LOOKED_AT, open: true }),
    deps.records.list({ limit: LOOKED_AT }),
    orNull('facts', deps.home(userId)),
    orNull('memory', memory.summary()),
    orNull('admin channel', channels.idOf(memory.adminChannel)),
  ]);
  const resolved = newest
    .filter(({ state }) => state === 'resolved')
    .sort((a, b) => (b.endedAt ?? '').localeCompare(a.endedAt ?? ''));
  return homeView({
    status: facts
      ? [...context.modeLines(), ...(await Promise.all(facts.state.map(context.withNames)))]
      : await context.statusLines(),
    open: await readableBy(context, userId, null, open),
    resolved: await readableBy(context, userId, null, resolved.slice(0, 20)),
    facts,
    memory: summary,
    adminChannel,
    urlOf: ({ channel, threadTs }) =>
      channel && threadTs ? messageUrl(identity(), channel, threadTs) : null,
  });
}
