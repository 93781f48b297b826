import { setTimeout as delay } from 'node:timers/promises';
import type { Receiver } from '@slack/bolt';
import { messageOf, OpsError } from '../core/errors.ts';
import type { AnswerPlaces } from '../incidents/ports.ts';
import { createBoltApp } from './app.ts';
import { createContext, type SlackContext } from './context.ts';
import { registerActions } from './inbound/actions/register.ts';
import { registerCommands } from './inbound/commands/register.ts';
import { alertMessageOf, isOwn } from './inbound/events/alert-message.ts';
import { registerEvents } from './inbound/events/register.ts';
import { createHistory, type History } from './inbound/history.ts';
import { type HttpHandler, httpReceiver } from './inbound/http-receiver.ts';
import { createInbox } from './inbound/inbox.ts';
import { throughInbox } from './inbound/receiver.ts';
import { registerShortcuts } from './inbound/shortcuts/register.ts';
import { socketReceiver } from './inbound/socket-receiver.ts';
import { keepHomes } from './keep-homes.ts';
import { createAnswerPlaces } from './outbound/answers/answer-places.ts';
import { createApprovalNotices } from './outbound/approval-notices.ts';
import { outboundStore } from './outbound/store.ts';
import { withoutUntold } from './people/without-untold.ts';
import type { SlackDeps, SlackMessage } from './ports.ts';

/** Two, because Slack closes each from time to time; events go to whichever is open. */
const SOCKETS = 2;
/** A start does not wait longer than this for Slack: everything else works without it. */
const START_MS = 10_000;
const DRAIN_MS = 5_000;

export interface Slack {
  /** Resolves when connected, or after 10 s while it goes on trying. OpsError SLACK_AUTH when Slack refuses the token. */
  start(): Promise<void>;
  /** Refuses new work, lets running handlers and calls end. */
  stop(): Promise<void>;
  /** Where answers to questions grow: in the incident's thread, or streamed in a direct message. */
  readonly answers: AnswerPlaces;
  /** HTTP mode: for `POST /slack/events` on the HTTP server; null in Socket Mode. */
  readonly handleHttp: HttpHandler | null;
  health(): SlackHealth;
}

export interface SlackHealth {
  readonly ok: boolean;
  readonly mode: 'socket' | 'http';
  /** Open Socket Mode connections; 0 over HTTP. */
  readonly connections: number;
  /** What keeps messages from being read or sent now; null: nothing. */
  readonly problem: string | null;
  /** For how long, in ms, the oldest change of the record has waited to be shown in Slack; 0: none waits. */
  readonly oldestWaitMs: number;
  /** Since anything came from Slack, ms; null: nothing has yet. */
  readonly lastEventMs: number | null;
  /** Events that were taken in and came to nothing, since the start. */
  readonly givenUp: number;
}

/** How events come in. */
interface Intake {
  /** Open Socket Mode connections. */
  open: number;
  /** By `performance.now`. */
  lastEventAt: number | null;
  givenUp: number;
}

/** The Slack surface: receives through the inbox, draws the record as the bus tells of changes, lets people decide. */
export function createSlack(given: SlackDeps): Slack {
  const { workspace, log } = given;
  const deps = { ...given, records: withoutUntold(given.records, workspace.access) };
  const stopping = new AbortController();
  const store = outboundStore(deps.sql, deps.executorId, async (ids) => {
    await deps.mutes.hold(ids);
    await deps.correlation.hold(ids);
  });
  const context = createContext(deps, store, stopping.signal);
  const { outbound } = context;
  const notices = createApprovalNotices(context);
  const history = createAlertHistory(deps);
  let endHomes = async (): Promise<void> => undefined;
  const intake: Intake = { open: 0, lastEventAt: null, givenUp: 0 };
  const { receivers, handleHttp } = createReceivers(deps, intake, () => {
    history.catchUp();
    outbound.retryNow();
  });
  const receiver = throughInbox(receivers, {
    arrived: () => {
      intake.lastEventAt = performance.now();
    },
    makeInbox: (handle) =>
      createInbox({
        sql: deps.sql,
        log,
        handle,
        ignore: (body) => isOwnMessage(deps, body),
        givenUp: () => {
          intake.givenUp += 1;
        },
      }),
  });
  registerHandlers(deps, context, receiver);

  async function connect(): Promise<void> {
    await workspace.connect(stopping.signal);
    // Whose settings count is known only now.
    await deps.setUp.settings.refresh();
    outbound.start(deps.bus);
    endHomes = keepHomes(context, deps.bus);
    notices.start(deps.bus);
    history.start();
    receiver.inbox().start();
    await receiver.start();
  }

  return {
    answers: createAnswerPlaces({
      client: workspace.client,
      store,
      log,
      outbound,
      messages: context.direct,
      sessions: context.sessions,
      self: workspace.identity,
      stop: ({ channel, threadTs }) => deps.questions.stop(channel, threadTs),
    }),
    handleHttp,
    health: () => healthOf(context, intake),
    start: () => startOrGoOn(connect(), deps, stopping.signal),
    async stop() {
      stopping.abort();
      // Handlers first, while their acknowledgements can still be sent; what does not end in time is done again later.
      await Promise.race([receiver.inbox().stop(), delay(DRAIN_MS, undefined, { ref: false })]);
      await Promise.all([receiver.stop(), history.stop(), endHomes()]);
      await Promise.all([outbound.stop(), notices.stop()]);
    },
  };
}

/** Reads alerts that were posted while nobody listened. */
function createAlertHistory(deps: SlackDeps): History {
  const { workspace, sql, log } = deps;
  return createHistory({
    client: workspace.client,
    sql,
    log,
    channels: () => Promise.all([...workspace.alertChannels].map((name) => workspace.channels.idOf(name))),
    take: async (message) => {
      const alert = alertMessageOf(message, workspace.own());
      if (alert) await takeAlert(deps, alert);
    },
  });
}

async function takeAlert({ acceptSlackMessage, workspace }: SlackDeps, message: SlackMessage): Promise<void> {
  await acceptSlackMessage(message, workspace.own());
}

function isOwnMessage({ workspace }: SlackDeps, body: Readonly<Record<string, unknown>>): boolean {
  const event = body['event'] as Readonly<Record<string, unknown>> | undefined;
  return event?.['type'] === 'message' && isOwn(event, workspace.own());
}

/** Over which events come in. `intake` counts the open connections; `connected` is told of each. */
function createReceivers(
  { workspace: { connection }, log }: SlackDeps,
  intake: Intake,
  connected: () => void,
): { readonly receivers: readonly Receiver[]; readonly handleHttp: HttpHandler | null } {
  if (connection.kind === 'http') {
    const { receiver, handler } = httpReceiver(connection, log);
    return { receivers: [receiver], handleHttp: handler };
  }
  const count = (change: number): void => {
    intake.open += change;
  };
  const receivers = Array.from({ length: SOCKETS }, () =>
    socketReceiver(connection, log, { connected, count }),
  );
  return { receivers, handleHttp: null };
}

function registerHandlers(deps: SlackDeps, context: SlackContext, receiver: Receiver): void {
  const { workspace } = deps;
  const app = createBoltApp(workspace.connection, receiver, workspace.identity, deps.log);
  registerActions(app, context);
  registerCommands(app, context);
  registerShortcuts(app, context);
  registerEvents(app, context, {
    isAlertChannel: (channel) => workspace.channels.isAmong(channel, [...workspace.alertChannels]),
    takeAlert: (message) => takeAlert(deps, message),
    takeChange: async (message) => {
      await deps.acceptSlackChange(message, workspace.own());
    },
  });
}

function healthOf({ connection, own, outbound }: SlackContext, intake: Intake): SlackHealth {
  const { open: connections, lastEventAt, givenUp } = intake;
  const mode = connection.kind;
  const cut = own().userId === null || (mode === 'socket' && connections === 0);
  const problem = cut ? 'Slack cannot be reached' : outbound.problem();
  return {
    ok: problem === null,
    mode,
    connections,
    problem,
    oldestWaitMs: outbound.oldestWaitMs(),
    lastEventMs: lastEventAt === null ? null : performance.now() - lastEventAt,
    givenUp,
  };
}

/** Waits for the connection, but not for long: the rest goes on without Slack, and it goes on trying. */
async function startOrGoOn(
  connecting: Promise<void>,
  { log }: SlackDeps,
  stopping: AbortSignal,
): Promise<void> {
  const waited = new AbortController();
  try {
    await Promise.race([
      connecting,
      delay(START_MS, undefined, { signal: waited.signal }).then(() => {
        log.warn({}, 'Slack cannot be reached yet; going on without it');
        connecting.catch((error: unknown) => {
          const todo = error instanceof OpsError ? error.hint : undefined;
          if (!stopping.aborted) log.error({ error: messageOf(error), todo }, 'Slack could not be connected');
        });
      }),
    ]);
  } finally {
    waited.abort();
  }
}
