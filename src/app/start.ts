import { mkdirSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { reservePort } from '../infra/process/free-port.ts';
import { defaultSource, webhookPath } from '../sources/registry.ts';
import { kinds } from '../targets/kinds.ts';
import { type App, buildApp } from './build.ts';
import { NO_CHROMA, startChroma } from './chroma.ts';
import { fixedPort } from './fixed-ports.ts';
import { type LocalWorkspace, startFaults, startLocalSlack } from './playground.ts';
import { openStore } from './store.ts';

/** What runs where, for the first screen. */
export interface Running {
  readonly app: App;
  readonly config: Config;
  readonly httpUrl: string;
  readonly workspace: LocalWorkspace | null;
  /** Null: there is none, see `startChroma`. */
  readonly chromaHost: string | null;
  /** The systems of the playground, by name; empty: there are none. */
  readonly shop: readonly string[];
  /** Ends everything this start began, last first. Can be repeated. */
  stop(): Promise<void>;
}

/** Told while things start, one line each, for whoever watches. */
export type Progress = (line: string) => void;

/** Starts every part, in the order in which they need each other; what has started is stopped again when a later one fails. */
export async function start(given: Config, log: Log, progress: Progress): Promise<Running> {
  mkdirSync(given.dataDir, { recursive: true });
  const stops: (() => Promise<void>)[] = [];
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
    const config = { ...given, http: { ...given.http, port: await httpPort(given) } };
    if (config.slack.kind === 'playground' && config.slack.port > 0) reservePort(config.slack.port);
    // Independent of each other, and each takes a second: together. All are waited for, so that none is left running
    // when another fails.
    const opening = started(openStore(config, log, { keep: true }));
    const startingChroma = started(startChroma(config, log));
    await Promise.allSettled([opening, startingChroma]);
    const [store, chroma] = await Promise.all([opening, startingChroma]);
    const workspacePort =
      config.slack.kind === 'playground' ? await fixedPort(config.dataDir, 'slack', config.slack.port) : null;
    const faultsPort = config.playgroundTarget ? await fixedPort(config.dataDir, 'faults', null) : null;

    if (workspacePort !== null) progress('Starting the local Slack workspace');
    const workspace =
      workspacePort === null
        ? null
        : await started(startLocalSlack(config, { slack: workspacePort, faults: faultsPort }, log));

    if (faultsPort !== null) progress('Starting shop-db, the database you may break');
    const faults = faultsPort === null ? null : await started(shopDb(config, faultsPort, workspace, log));

    progress('Starting Sentry');
    const app = await buildApp({
      config,
      store,
      chromaHost: chroma.host ?? NO_CHROMA,
      slack: connectionOf(config, workspace),
      kinds,
      targets: faults ? faults.targets : config.targets,
      approvers: config.approvers.length > 0 ? config.approvers : (workspace?.approvers ?? []),
      admins: config.admins.length > 0 ? config.admins : (workspace?.admins ?? []),
      oncallGroup: config.oncallGroup ?? workspace?.oncallGroup ?? null,
      log,
    });
    stops.push(app.stop);
    const { httpUrl } = await app.start();
    return {
      app,
      config,
      httpUrl,
      workspace,
      chromaHost: chroma.host,
      shop: faults?.targets.map(({ name }) => name) ?? [],
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
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

/** The default port may be somebody else's: then another, remembered. A port that was asked for is insisted on. */
async function httpPort({ dataDir, http }: Config): Promise<number> {
  if (http.portIsDefault || http.port === 0) return fixedPort(dataDir, 'http', http.port);
  reservePort(http.port);
  return http.port;
}

function connectionOf(config: Config, workspace: LocalWorkspace | null) {
  if (config.slack.kind !== 'playground') return config.slack;
  if (workspace) return workspace.connection;
  throw new OpsError('NO_SLACK', 'There is no Slack to talk to.', {
    hint: 'Set the tokens, or leave them all out for the local workspace.',
  });
}
