import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CallCounters } from './call-counters.ts';
import { controlHandlers } from './control.ts';
import type { Timing } from './control-api.ts';
import { Events } from './events.ts';
import { FaultsClient } from './faults-client.ts';
import { HttpDelivery } from './http-delivery.ts';
import type { BotConnection } from './page-api.ts';
import { PageServer } from './page-server.ts';
import { personActions } from './person-actions.ts';
import { RateLimits } from './rate-limits.ts';
import { Recording } from './recording.ts';
import { ResponseUrls } from './response-urls.ts';
import { routeRequest } from './routes.ts';
import type { SlackContext } from './slack-context.ts';
import { snapshotOf } from './snapshot.ts';
import { SocketMode } from './socket-mode.ts';
import { Switches } from './switches.ts';
import { Triggers } from './triggers.ts';
import { refusalOf } from './visitor-check.ts';
import { Workspace } from './workspace.ts';

export interface LocalSlackOptions {
  /** Where the workspace is kept; without it, it is gone when the server ends. */
  readonly dataDir?: string;
  /** 0, the default: any free port. */
  readonly port?: number;
  readonly faultsUrl?: string;
  /** The app's request URL for signed HTTP delivery; without it, Socket Mode. */
  readonly eventsUrl?: string;
  readonly timing?: Partial<Timing>;
  /** `enabled: false` for tests that are not about limits; `speed` as in the control API. */
  readonly rateLimits?: { readonly enabled?: boolean; readonly speed?: number };
  /** More names this server may be addressed by, e.g. its name in a container network. */
  readonly allowedHosts?: readonly string[];
  /** Address to bind; 127.0.0.1 unless a container network needs another. */
  readonly host?: string;
  readonly now?: () => number;
  /** Told about faults of this server itself; by default they go to stderr. */
  readonly onFault?: (error: unknown) => void;
}

export interface LocalSlack {
  /** `http://127.0.0.1:<port>`; the page is here. */
  readonly url: string;
  /** For `slackApiUrl` and `SLACK_API_URL`: `<url>/api/`. */
  readonly apiUrl: string;
  close(): Promise<void>;
}

const DEFAULT_TIMING: Timing = {
  ackMs: 3000,
  retryFactor: 1,
  triggerMs: 3000,
  streamMs: 300_000,
  responseUrlMs: 1_800_000,
};

/** Starts a local Slack workspace and resolves when it listens. Rejects when the port is taken (the system's EADDRINUSE) or
 * another process has the data folder (SLACK_DATA_IN_USE). */
export async function createLocalSlack(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const now = options.now ?? Date.now;
  const initialTiming: Timing = { ...DEFAULT_TIMING, ...options.timing };
  let timing = initialTiming;
  let eventsUrl = options.eventsUrl ?? null;
  let url = '';

  const switches = new Switches();
  const whenThawed = () => switches.whenThawed();
  const ackMs = () => timing.ackMs;
  const limits = new RateLimits(now);
  limits.enabled = options.rateLimits?.enabled ?? true;
  limits.speed = options.rateLimits?.speed ?? 1;
  const workspace = new Workspace({
    now,
    ...(options.dataDir === undefined ? {} : { dir: options.dataDir }),
  });
  const botState = (): BotConnection => ({
    mode: eventsUrl !== null ? 'http' : sockets.connections() > 0 ? 'socket' : 'none',
    connections: sockets.connections(),
  });
  const botChanged = () => workspace.publish({ type: 'bot', bot: botState() });
  const sockets = new SocketMode({ ackMs, whenThawed, changed: botChanged });
  const http = new HttpDelivery({ url: () => eventsUrl ?? '', ackMs, whenThawed });
  const { journal } = workspace;
  const events = new Events({
    journal,
    transport: () => (eventsUrl === null ? sockets : http),
    timing: () => timing,
    switches,
    now,
  });
  const slack: SlackContext = {
    workspace,
    events,
    triggers: new Triggers(now, () => timing.triggerMs),
    responseUrls: new ResponseUrls({ journal, now, ttlMs: () => timing.responseUrlMs, baseUrl: () => url }),
    sockets,
    timing: () => timing,
    baseUrl: () => url,
  };
  const faults = new FaultsClient(options.faultsUrl, (panel) =>
    workspace.publish({ type: 'faults', faults: panel }),
  );
  const snapshot = () => snapshotOf(workspace, faults.panel(), botState());
  const page = new PageServer(snapshot);
  const recording = new Recording(now);
  workspace.onDelta((delta) => {
    recording.keep(delta);
    page.broadcast(delta);
  });
  const counters = new CallCounters();
  const routes = {
    api: { slack, switches, limits, counters },
    page,
    people: personActions(slack, faults, recording),
    control: controlHandlers({
      slack,
      switches,
      limits,
      counters,
      snapshot,
      setTiming: (changes) => {
        timing = { ...timing, ...changes };
      },
      resetTiming: () => {
        timing = initialTiming;
      },
      setEventsUrl: async (next, challenge) => {
        eventsUrl = next;
        botChanged();
        return next !== null && challenge !== undefined && (await http.verify(challenge));
      },
    }),
    onFault: options.onFault ?? ((error) => process.stderr.write(`local Slack: ${faultText(error)}\n`)),
  };

  let port = 0;
  const refusal = (request: IncomingMessage) => refusalOf(request, port, options.allowedHosts ?? []);
  const server = createServer(
    (request, response) => void routeRequest(routes, request, response, refusal(request)),
  );
  server.on('upgrade', (request, socket, head) => {
    const path = (request.url ?? '').split('?')[0];
    if (refusal(request) !== undefined) socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
    else if (path === '/link/') sockets.handleUpgrade(request, socket, head);
    else if (path === '/page/ws') page.handleUpgrade(request, socket, head);
    else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
  });
  try {
    port = await listen(server, options.port ?? 0, options.host ?? '127.0.0.1');
  } catch (error) {
    sockets.close();
    page.close();
    workspace.close();
    throw error;
  }
  url = `http://127.0.0.1:${port}`;
  events.resume();
  faults.start();

  return {
    url,
    apiUrl: `${url}/api/`,
    close: async () => {
      events.close();
      faults.close();
      switches.freeze(false);
      sockets.close();
      page.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      workspace.close();
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function faultText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
