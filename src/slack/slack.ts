import { setTimeout as delay } from 'node:timers/promises';
import type { Receiver } from '@slack/bolt';
import { messageOf, OpsError } from '../core/errors.ts';
import type { AnswerPlaces, Reporter } from '../incidents/ports.ts';
import type { Audiences } from '../memory/audiences.ts';
import { createBoltApp } from './app.ts';
import type { SlackContext } from './context.ts';
import { registerActions } from './inbound/actions/register.ts';
import { registerCommands } from './inbound/commands/register.ts';
import { createAgentSessions } from './inbound/direct/agent-session.ts';
import { createDirectMessages } from './inbound/direct/direct-messages.ts';
import { alertMessageOf, isOwn } from './inbound/events/alert-message.ts';
import { registerEvents } from './inbound/events/register.ts';
import { createHistory } from './inbound/history.ts';
import { type HttpHandler, httpReceiver } from './inbound/http-receiver.ts';
import { createInbox } from './inbound/inbox.ts';
import { throughInbox } from './inbound/receiver.ts';
import { socketReceiver } from './inbound/socket-receiver.ts';
import { createAnswerPlaces } from './outbound/answers/answer-places.ts';
import { createOutbound } from './outbound/outbound.ts';
import { Paces } from './outbound/pacing.ts';
import { outboundStore } from './outbound/store.ts';
import { asProposalId, isDirect, isProposal } from './outbound/subject.ts';
import { sayText, tell } from './outbound/tell.ts';
import { webClient } from './outbound/web-client.ts';
import { createAccess } from './people/access.ts';
import { createAudiences } from './people/audiences.ts';
import { createChannels } from './people/channels.ts';
import { createDirectory, type SlackDirectory } from './people/directory.ts';
import { askIdentity, type Identity } from './people/identity.ts';
import { createPeople } from './people/people.ts';
import type { SlackDeps, SlackMessage } from './ports.ts';
import { draw } from './views/blocks/draw.ts';
import { count } from './views/blocks/promotion-card.ts';
import { escape } from './views/blocks/text.ts';
import { createDrawOptions } from './views/draw-options.ts';
import { drawProposal } from './views/draw-proposal.ts';

/** Two, because Slack closes each from time to time; events go to whichever is open. */
const SOCKETS = 2;
/** A start does not wait longer than this for Slack: everything else works without it. */
const START_MS = 10_000;
const DRAIN_MS = 5_000;

export interface Slack extends Reporter {
  /** A proposal was made, decided or tried: its card is drawn again. Never throws. */
  proposalChanged(jobId: string): void;
  /** Resolves when connected, or after 10 s while it goes on trying. OpsError SLACK_AUTH when Slack refuses the token. */
  start(): Promise<void>;
  /** Refuses new work, lets running handlers and calls end. */
  stop(): Promise<void>;
  readonly directory: SlackDirectory;
  /** Who reads what is told of past incidents in a thread. */
  readonly audiences: Audiences;
  /** Where answers to questions grow: in the incident's thread, or streamed in a direct message. */
  readonly answers: AnswerPlaces;
  /**
   * Says something that belongs to no incident, once, in a channel (name or id), else the first alert channel. Rejects when
   * it did not arrive.
   */
  announce(text: string, channel?: string): Promise<void>;
  /** HTTP mode: for `POST /slack/events` on another server; null in Socket Mode. */
  readonly handleHttp: HttpHandler | null;
  /** HTTP mode with `listen`: the port it got. */
  readonly port: () => number | null;
  health(): SlackHealth;
}

interface SlackHealth {
  readonly ok: boolean;
  readonly mode: 'socket' | 'http';
  /** Open Socket Mode connections; 0 over HTTP. */
  readonly connections: number;
  /** What keeps messages from being read or sent now; null: nothing. */
  readonly problem: string | null;
}

/** The Slack side: receives through the inbox, draws the record, lets people decide. */
export function createSlack(deps: SlackDeps): Slack {
  const { connection, log, sql, config } = deps;
  const stopping = new AbortController();
  let who: Identity | undefined;
  let connections = 0;
  const identity = (): Identity => {
    if (!who)
      throw new OpsError('SLACK_NOT_CONNECTED', 'Slack has not been reached yet.', {
        hint: 'Check SLACK_API_URL and the network.',
        retryable: true,
      });
    return who;
  };
  const own = () => ({ botId: who?.botId ?? null, userId: who?.userId ?? null });

  const sender = webClient(connection, log);
  const client = webClient(connection, log);
  const channels = createChannels(client, log);
  const directory = createDirectory(client, (name) => channels.idOf(name));
  const people = createPeople(client, identity);
  const store = outboundStore(sql, deps.executorId);
  const drawOptions = createDrawOptions({
    config,
    log,
    store,
    people,
    directory,
    channels,
    identity,
    mayDig: deps.digDeeper !== undefined,
    mayReadAgain: deps.readAgain !== undefined,
    access: () => access,
    ...(deps.afterwards ? { afterwards: deps.afterwards } : {}),
  });
  const alertChannels = () => Promise.all(config.alertChannels.map((name) => channels.idOf(name)));
  const outbound = createOutbound({
    client: sender,
    store,
    log,
    paces: new Paces(deps.speed),
    drawing: async (id) => {
      if (isDirect(id)) return null;
      if (isProposal(id)) return drawProposal({ memory: deps.memory, store, people, channels, identity }, id);
      const record = await deps.records.load(id);
      if (!record) return null;
      const channel = record.incident.channel ?? (await channelFor(record.alerts[0]?.deliveryKey));
      return { slots: draw(record, await drawOptions(record)), channel };
    },
  });
  /** Where its alert was posted, while that is an alert channel; the first one otherwise. */
  const channelFor = async (firstDelivery = ''): Promise<string> => {
    const posted = /^slack:([^:]+):/.exec(firstDelivery)?.[1];
    if (posted !== undefined && (await channels.isAmong(posted, config.alertChannels))) return posted;
    return channels.idOf(config.alertChannels[0] ?? 'alerts');
  };
  const takeAlert = async (message: SlackMessage): Promise<void> => {
    await deps.acceptSlackMessage(message, own());
  };
  const history = createHistory({
    client,
    sql,
    log,
    channels: alertChannels,
    take: async (message) => {
      const alert = alertMessageOf(message, own());
      if (alert) await takeAlert(alert);
    },
  });

  const http = connection.kind === 'http' ? httpReceiver(connection, log, deps.listen) : null;
  const receivers: readonly Receiver[] =
    connection.kind === 'socket'
      ? Array.from({ length: SOCKETS }, () =>
          socketReceiver(connection, log, {
            connected: () => {
              history.catchUp();
              outbound.retryNow();
            },
            count: (change) => {
              connections += change;
            },
          }),
        )
      : http
        ? [http.receiver]
        : [];
  const receiver = throughInbox(receivers, (handle) =>
    createInbox({
      sql,
      log,
      handle,
      ignore: (body) => {
        const event = body['event'] as Readonly<Record<string, unknown>> | undefined;
        return event?.['type'] === 'message' && isOwn(event, own());
      },
    }),
  );
  const app = createBoltApp(connection, receiver, identity, log);

  /** `<@U…>` in a line of ours as that person's name: these lines are plain text, and ring nobody. */
  const withNames = async (line: string): Promise<string> => {
    const ids = [...new Set([...line.matchAll(/<@([UW][A-Z0-9]+)>/g)].map(([, id = '']) => id))];
    const names = new Map(await Promise.all(ids.map(async (id) => [id, await people.name(id)] as const)));
    return line.replace(/<@([UW][A-Z0-9]+)>/g, (_, id: string) => names.get(id) ?? id);
  };

  const direct = createDirectMessages({
    client,
    store,
    log,
    paces: new Paces(deps.speed),
    stopping: stopping.signal,
  });
  const sessions = createAgentSessions(client, log);
  const access = createAccess({
    client,
    log,
    directory,
    people,
    home: async (id) => {
      const [first] = await sql<{ readonly key: string }>`
        SELECT delivery_key AS key FROM alert WHERE incident_id = ${id} ORDER BY id LIMIT 1`;
      return channelFor(first?.key);
    },
  });
  const modeLines = (): readonly string[] => [
    config.mode() === 'ACTIVE' ? 'Mode ACTIVE: approved fixes are run.' : 'Mode AUDIT: nothing is changed.',
    outbound.problem() ? `Slack: ${outbound.problem()}` : 'Slack: messages arrive.',
  ];

  const context: SlackContext = {
    deps,
    client,
    outbound,
    people,
    directory,
    access,
    direct,
    sessions,
    identity,
    drawOptions,
    tell: async (to, say) => tell(client, log, to, { ...say, text: await withNames(say.text) }),
    withNames,
    modeLines,
    channels,
    statusLines: async () => {
      const open = await deps.records.list({ limit: 1000, open: true });
      const waiting = (await deps.memory?.summary())?.proposalsWaiting ?? 0;
      return [
        ...modeLines(),
        `${open.length} open ${open.length === 1 ? 'incident' : 'incidents'}.`,
        ...(waiting > 0 ? [`${count(waiting, 'proposal')} for everybody’s memory: /sentry promotions.`] : []),
        ...(await Promise.all(((await deps.statusLines?.()) ?? []).map(withNames))),
      ];
    },
  };
  registerActions(app, context);
  registerCommands(app, context);
  registerEvents(app, context, {
    isAlertChannel: (channel) => channels.isAmong(channel, config.alertChannels),
    takeAlert,
  });

  async function connect(): Promise<void> {
    who = await askIdentity(client, log, stopping.signal);
    outbound.start();
    history.start();
    receiver.inbox().start();
    await receiver.start();
  }

  const answers = createAnswerPlaces({
    client,
    store,
    log,
    outbound,
    messages: direct,
    sessions,
    self: identity,
    stop: async ({ channel, threadTs }) => deps.questions?.stop(channel, threadTs),
  });

  return {
    answers,
    audiences: createAudiences({ sql, access }),
    changed: (id) => outbound.changed(id),
    proposalChanged: (jobId) => outbound.changed(asProposalId(jobId)),
    directory,
    async announce(text, where) {
      const channel = await channels.idOf(where ?? config.alertChannels[0] ?? 'alerts');
      const { text: plain, blocks } = sayText(text);
      await client.chat.postMessage({
        channel,
        text: escape(plain),
        ...(blocks ? { blocks: [...blocks] } : {}),
      });
    },
    handleHttp: http?.handler ?? null,
    port: () => http?.port() ?? null,
    health: () => {
      const cut = connection.kind === 'socket' && connections === 0;
      const problem = who === undefined || cut ? 'Slack cannot be reached' : outbound.problem();
      return { ok: problem === null, mode: connection.kind, connections, problem };
    },
    async start() {
      const connecting = connect();
      const waited = new AbortController();
      try {
        await Promise.race([
          connecting,
          delay(START_MS, undefined, { signal: waited.signal }).then(() => {
            log.warn({}, 'Slack cannot be reached yet; going on without it');
            connecting.catch((error: unknown) => {
              if (!stopping.signal.aborted)
                log.error({ error: messageOf(error) }, 'Slack could not be connected');
            });
          }),
        ]);
      } finally {
        waited.abort();
      }
    },
    async stop() {
      stopping.abort();
      // Handlers first, while their acknowledgements can still be sent; what does not end in time is done again later.
      await Promise.race([receiver.inbox().stop(), delay(DRAIN_MS, undefined, { ref: false })]);
      await Promise.all([receiver.stop(), history.stop()]);
      await outbound.stop();
    },
  };
}
