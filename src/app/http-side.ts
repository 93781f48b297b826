import { Counter, type Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import { createRateLimit } from '../http/rate-limit.ts';
import type { Route } from '../http/route.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts';
import { statusRoutes } from '../http/status-routes.ts';
import { webhookRoutes } from '../http/webhook-route.ts';
import type { Accept } from '../ingest/accept.ts';

interface HttpSideDeps {
  readonly config: Config;
  readonly sql: Sql;
  readonly log: Log;
  readonly metrics: Registry;
  readonly accept: Accept;
  readonly changed: (id: IncidentId) => void;
  /** Where Slack posts to when it does not use Socket Mode. */
  readonly slackEvents: NonNullable<HttpServerOptions['mounts']>[string] | null | undefined;
  readonly routes: readonly Route[];
}

/** The one HTTP server: alert sources, Slack's events, the admin API, health and metrics. */
export function createHttpSide(deps: HttpSideDeps): HttpServer {
  const { config, sql, log, metrics, accept, changed, slackEvents } = deps;
  const accepted = new Counter({
    name: 'sentry_alerts_accepted_total',
    help: 'Alerts accepted, by source and what they became.',
    labelNames: ['source', 'kind'],
    registers: [metrics],
  });
  return createHttpServer({
    host: config.http.host,
    port: config.http.port,
    log,
    metrics,
    rateLimit: createRateLimit({ known: config.http.rate, strangers: Math.ceil(config.http.rate / 10) }),
    ...(slackEvents ? { mounts: { '/slack/events': slackEvents } } : {}),
    routes: [
      ...webhookRoutes({
        accept,
        secret: config.http.webhookSecret,
        log,
        accepted,
        onAccepted: ({ incidentId }) => {
          if (incidentId) changed(incidentId);
        },
      }),
      ...deps.routes,
      ...statusRoutes({
        checks: [{ name: 'database', check: async () => void (await sql`SELECT 1`) }],
        metrics,
      }),
    ],
  });
}
