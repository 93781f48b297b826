import { Counter } from 'prom-client';
import { createRateLimit } from '../http/rate-limit.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { statusRoutes } from '../http/status-routes.ts';
import { webhookRoutes } from '../http/webhook-route.ts';
import type { HttpHandler } from '../slack/inbound/http-receiver.ts';
import { createMcpSide } from './mcp-side.ts';
import type { Services } from './services.ts';

/** The one HTTP server: alert sources, Slack's events, the admin API, MCP clients, health and metrics. */
export async function createHttpSide(
  services: Services,
  slackEvents: HttpHandler | null,
): Promise<HttpServer> {
  const { config, sql, log, metrics, accept, workspace } = services;
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
      ...webhookRoutes({ accept, secret: config.http.webhookSecret, log, accepted }),
      ...workspace.routes(config.http.adminToken),
      ...(await createMcpSide(services)),
      ...statusRoutes({
        checks: [{ name: 'database', check: async () => void (await sql`SELECT 1`) }],
        metrics,
      }),
    ],
  });
}
