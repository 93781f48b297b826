import { chmodSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { within } from '../core/within.ts';
import type { ListeningSocket } from '../http/server.ts';
import { claimFolder } from '../infra/process/claim-folder.ts';
import { reservePort } from '../infra/process/free-port.ts';
import { makeFolder } from '../infra/process/make-folder.ts';
import { defaultSource, webhookPath } from '../sources/registry.ts';
import { kinds } from '../targets/kinds.ts';
import { type App, buildApp } from './build.ts';
import { chromaLine, NO_CHROMA, startChroma } from './chroma.ts';
import { fixedPort } from './fixed-ports.ts';
import { fixedSettings } from './fixed-settings.ts';
import { type LocalWorkspace, startFaults, startLocalSlack } from './playground.ts';
import { openStore } from './store.ts';

/** What runs where, for the first screen. */
export interface Running {
  readonly app: App;
  readonly config: Config;
  readonly httpUrl: string;
  readonly workspace: LocalWorkspace | null;
  /** Where the vector database is, in words. */
  readonly chroma: string;
  /** The systems of the playground, by name; empty: there are none. */
  readonly shop: readonly string[];
  /** Ends everything this start began, last first. Can be repeated. */
  stop(): Promise<void>;
}

/** Then its servers are stopped under it, so that all has ended within the 30 s that docs/operations.md promises. */
const APP_STOPS_WITHIN_MS = 22_000;

/** Told while things start, one line each, for whoever watches. */
export type Progress = (line: string) => void;

/** Whoever holds the port while no Sentry runs. */
export interface PortKeeper {
  /** The socket it has kept; null: a port is to be chosen. */
  socket(): Promise<ListeningSocket | null>;
  keep(socket: ListeningSocket): void;
}

/**
 * Starts every part, in the order in which they need each other; what has started is stopped again when a later one fails.
 *
 * @param gone called once when the data folder is removed while this runs.
 */
export async function start(
  given: Config,
  log: Log,
  progress: Progress,
  gone: () => void,
  keeper?: PortKeeper,
): Promise<Running> {
  openDataFolder(given);
  const folder = await claimFolder(given.dataDir, log, gone);
  const stops: (() => Promise<void>)[] = [folder.release];
  const stop = async (): Promise<void> => {
    for (let next = stops.pop(); next; next = stops.pop())
      await next().catch((error: unknown) =>
        log.error({ error: messageOf(error) }, 'a part could not be stopped'),
      );
  };
  const started = async <T extends Pick<Running, 'stop'> | null>(starting: Promise<T>): Promise<T> => {
    const part = await starting;
    if (part) stops.push(() => part.stop());
    return part;
  };
  try {
    progress(given.databaseUrl ? 'Connecting to PostgreSQL' : 'Starting PostgreSQL');
    const socket = (await keeper?.socket()) ?? null;
    const ports = await choosePorts(given, progress, socket);
    const config = {
      ...given,
      http: { ...given.http, host: socket?.host ?? given.http.host, port: ports.http },
    };
    // Independent of each other, and each takes a second: together. All are waited for, so that none is left running
    // when another fails.
    const opening = started(openStore(config, log, { keep: true }));
    const startingChroma = started(startChroma(config, log));
    await Promise.allSettled([opening, startingChroma]);
    const [store, chroma] = await Promise.all([opening, startingChroma]);

    if (ports.slack !== null) progress('Starting the local Slack workspace');
    const workspace =
      ports.slack === null
        ? null
        : await started(startLocalSlack(config, { slack: ports.slack, faults: ports.faults }, log));

    if (ports.faults !== null) progress('Starting shop-db, the database you may break');
    const faults = ports.faults === null ? null : await started(shopDb(config, ports.faults, workspace, log));

    progress('Starting Sentry');
    const app = await buildApp({
      config,
      store,
      chromaHost: chroma.host ?? NO_CHROMA,
      slack: connectionOf(config, workspace),
      playgroundPorts: [ports.slack, ports.faults].filter((port) => port !== null),
      kinds,
      targets: faults ? faults.targets : config.targets,
      fixed: fixedSettings(config, workspace),
      socket,
      ...(keeper ? { keepSocket: (listening: ListeningSocket) => keeper.keep(listening) } : {}),
      log,
    });
    stops.push(() =>
      within(APP_STOPS_WITHIN_MS, app.stop(), () =>
        log.error({}, 'Sentry did not stop in time; what was under way goes on at the next start'),
      ),
    );
    const { httpUrl } = await app.start();
    folder.tell(workspace?.pageUrl ?? httpUrl);
    return {
      app,
      config,
      httpUrl,
      workspace,
      chroma: await chromaLine(config, chroma.host),
      shop: faults?.targets.map(({ name }) => name) ?? [],
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Nobody else looks into it. Root's embedded PostgreSQL runs as somebody else, who has to pass through. */
function openDataFolder({ dataDir, databaseUrl }: Config): void {
  makeFolder(dataDir);
  chmodSync(dataDir, process.getuid?.() === 0 && !databaseUrl ? 0o711 : 0o700);
}

/** The database to break. With a Slack of one's own it is an extra: where it cannot run (a container), Sentry starts without. */
async function shopDb(config: Config, port: number, workspace: LocalWorkspace | null, log: Log) {
  try {
    return await startFaults(
      config,
      {
        port,
        alertUrl: `http://127.0.0.1:${config.http.port}${webhookPath(defaultSource)}`,
        webhookSecret: config.http.webhookSecret,
        slackWebhookUrl: workspace?.alertWebhookUrl ?? null,
      },
      log,
    );
  } catch (error) {
    if (workspace) throw error;
    log.error({ error: messageOf(error) }, 'shop-db cannot be started; name your own targets in sentry.yaml');
    return null;
  }
}

/**
 * A port that was asked for is that one or none; a usual one may be somebody else's: then another, remembered. One that was
 * kept over a crash stays, as senders know it.
 */
async function choosePorts(
  { dataDir, http, slack, playgroundTarget }: Config,
  say: Progress,
  kept: ListeningSocket | null,
) {
  const page = slack.kind === 'playground' ? slack : null;
  const asked = [http, ...(page ? [page] : [])].filter(({ portIsDefault }) => !portIsDefault);
  const others = asked.map(({ port }) => port);
  others.forEach(reservePort);
  const usual = { others, say };
  return {
    // Whether it is free shows at the address that it listens at.
    http: kept
      ? kept.port
      : http.portIsDefault || http.port === 0
        ? await fixedPort(dataDir, 'http', { ...usual, port: http.port })
        : http.port,
    slack: page
      ? await fixedPort(dataDir, 'slack', {
          ...usual,
          port: page.port,
          ...(page.portIsDefault ? {} : { askedBy: 'SENTRY_PLAYGROUND_PORT' }),
        })
      : null,
    faults: playgroundTarget ? await fixedPort(dataDir, 'faults', { ...usual, port: null }) : null,
  };
}

function connectionOf(config: Config, workspace: LocalWorkspace | null) {
  if (config.slack.kind !== 'playground') return config.slack;
  if (workspace) return workspace.connection;
  throw new OpsError('NO_SLACK', 'There is no Slack to talk to.', {
    hint: 'Set the tokens, or leave them all out for the local workspace.',
  });
}
