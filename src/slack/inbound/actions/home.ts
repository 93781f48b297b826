import type { App, types, ViewSubmitAction } from '@slack/bolt';
import { messageOf } from '../../../core/errors.ts';
import { parseIncidentId } from '../../../core/ids.ts';
import type { Incident, IncidentFilter as RecordFilter } from '../../../core/incident.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import type { SlackContext } from '../../context.ts';
import type { Say } from '../../outbound/tell.ts';
import { codeOf } from '../../outbound/web-errors.ts';
import { readableBy } from '../../people/access.ts';
import { isAdminNow, readerHere } from '../../people/reader.ts';
import { readField } from '../../views/form.ts';
import { HOME } from '../../views/home.ts';
import {
  gapsView,
  type IncidentFilter,
  incidentsView,
  layersView,
  memoryView,
  REPORT_TARGET,
  REPORT_TEXT,
  REPORT_VIEW,
  reportedTarget,
  reportView,
  rolesView,
  toolsView,
  watchedView,
} from '../../views/home-windows.ts';
import { noticeView } from '../../views/promotion-views.ts';
import { homeReader, publishHome, threadUrl } from '../../views/publish-home.ts';
import { createManualIncident } from '../commands/create-manual-incident.ts';
import { askService } from '../commands/service-command.ts';
import type { Pressed } from './pressed.ts';
import { show } from './show.ts';

type Handler = (context: SlackContext, pressed: Pressed) => Promise<void>;
type Window = types.ModalView | string;

/** A window for whoever may look at Home; everybody else reads why not. */
const windowOf =
  (
    title: string,
    make: (context: SlackContext, pressed: Pressed) => Promise<Window>,
    stays = false,
  ): Handler =>
  (context, pressed) =>
    show(
      context,
      pressed,
      title,
      async () => {
        const may = await context.directory.mayLook(pressed.userId, pressed.teamId);
        return may.ok ? make(context, pressed) : may.reason;
      },
      { stays },
    );

/** A guest sees the incidents of their channels, and nothing of how Sentry is set up. */
const memberWindow = (
  title: string,
  make: (context: SlackContext, pressed: Pressed) => Promise<Window>,
): Handler =>
  windowOf(title, async (context, pressed) => {
    const may = await context.directory.mayAct(pressed.userId, pressed.teamId);
    return may.ok ? make(context, pressed) : may.reason;
  });

const incidents = windowOf('Incidents', showIncidents, true);

/** What the buttons of Home and of its windows do. */
export const homeHandlers: Readonly<Record<string, Handler>> = {
  [HOME.report]: memberWindow('Report a problem', async ({ deps }) => reportView(deps.home.targets())),
  [HOME.incidents]: incidents,
  [HOME.incidentsOpen]: incidents,
  [HOME.incidentsToday]: incidents,
  [HOME.incidentsResolved]: incidents,
  [HOME.incidentsOlder]: incidents,
  [HOME.stop]: (context, pressed) => turnSwitch(context, pressed, 'stop'),
  [HOME.resume]: (context, pressed) => turnSwitch(context, pressed, 'resume'),
  [HOME.gaps]: memberWindow('What would mend that', async (context, { userId }) =>
    gapsView(await context.deps.home.gaps(await homeReader(context, userId))),
  ),
  [HOME.layers]: memberWindow('Safeguards', async (context, { userId }) =>
    layersView(await context.deps.home.layers(), await isAdminNow(context, userId)),
  ),
  [HOME.roles]: memberWindow('Who may do what', async ({ deps }, { userId }) =>
    rolesView(await deps.home.access(userId), deps.home.tools()),
  ),
  [HOME.memory]: memberWindow('Memory', async (context, { userId }) => {
    const { home, memory } = context.deps;
    const [tried, documents] = await Promise.all([
      home.tried(await homeReader(context, userId)),
      memory.documents.list(readerHere(userId, null)),
    ]);
    const newest = documents.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
    return memoryView(tried, newest);
  }),
  [HOME.tools]: memberWindow('Tools', async ({ deps }) => toolsView(deps.home.tools())),
  [HOME.watched]: memberWindow('Watched logs', (context, { userId }) => watched(context, userId)),
  [HOME.watchSet]: setWatch,
};

async function watched(context: SlackContext, userId: string, said: string | null = null) {
  const [logs, isAdmin] = await Promise.all([context.deps.home.watched(), isAdminNow(context, userId)]);
  const named = await Promise.all(
    logs.map(async (one) => ({
      ...one,
      stoppedBy:
        one.stoppedBy !== null && isSlackUser(one.stoppedBy)
          ? await context.directory.name(one.stoppedBy)
          : one.stoppedBy,
    })),
  );
  return watchedView(named, isAdmin, said);
}

const PAGE = 12;
/** However few of them somebody may see, one press looks through so many pages. */
const PAGES = 5;
const DAY_MS = 24 * 60 * 60_000;

/** Value `<filter>` or `<filter>:INC-n`, after which it goes on. */
async function showIncidents(context: SlackContext, { userId, value }: Pressed): Promise<Window> {
  const [chosen, after = ''] = value.split(':');
  const filter: IncidentFilter = chosen === 'today' || chosen === 'resolved' ? chosen : 'open';
  const filters: Readonly<Record<IncidentFilter, RecordFilter>> = {
    open: { open: true },
    today: { since: new Date(Date.now() - DAY_MS).toISOString() },
    resolved: { state: 'resolved' },
  };
  const found: Incident[] = [];
  let before = parseIncidentId(after) ?? null;
  for (let n = 0; n < PAGES && found.length < PAGE; n += 1) {
    const limit = PAGE - found.length;
    const page = await context.deps.records.page({ ...filters[filter], limit, before });
    found.push(...(await readableBy(context, userId, null, page.incidents)));
    before = page.next;
    if (before === null) break;
  }
  return incidentsView(filter, { incidents: found, next: before }, (each) => threadUrl(context, each));
}

/** As `/sentry stop everything`: who may is asked there. */
async function turnSwitch(context: SlackContext, pressed: Pressed, verb: 'stop' | 'resume'): Promise<void> {
  await context.tell(pressed.audience, await asTyped(context, pressed, verb, 'everything'));
  await publishHome(context, pressed.userId);
}

/** As `/sentry watch stop <target> <log>`; its window shows what came of it. */
async function setWatch(context: SlackContext, pressed: Pressed): Promise<void> {
  const { text } = await asTyped(context, pressed, 'watch', pressed.value);
  if (!pressed.viewId) return context.tell(pressed.audience, { text });
  const view = await watched(context, pressed.userId, text);
  await context.client.views.update({ view_id: pressed.viewId, view });
}

function asTyped(context: SlackContext, { userId, teamId, audience }: Pressed, name: string, rest: string) {
  return askService(context, name, {
    userId,
    teamId,
    channel: '',
    threadTs: null,
    text: `${name} ${rest}`,
    rest,
    say: (say: Say) => void context.tell(audience, say),
  });
}

/** *Look into it*: opens an incident, once for each window however often Slack sends it. */
export function registerHomeViews(app: App, context: SlackContext): void {
  app.view<ViewSubmitAction>(REPORT_VIEW, async ({ ack, body, view }) => {
    await ack({ response_action: 'update', view: noticeView('Report a problem', 'One moment …') });
    const userId = body.user.id;
    const said = await createManualIncident(context, {
      userId,
      teamId: body.user.team_id ?? null,
      text: readField(view.state.values, REPORT_TEXT),
      target: reportedTarget(readField(view.state.values, REPORT_TARGET)),
      key: `home:${view.id}`,
    }).catch((error: unknown) => {
      context.deps.log.error({ error: messageOf(error) }, 'a problem could not be reported');
      return { text: 'That could not be stored. Please try again in a moment.' };
    });
    await context.client.views
      .update({ view_id: view.id, view: noticeView('Report a problem', said.text) })
      .catch((error: unknown) => {
        context.deps.log.warn({ code: codeOf(error) }, 'a window was closed before its answer');
        return context.tell({ userId, channel: null, threadTs: null }, said);
      });
  });
}
