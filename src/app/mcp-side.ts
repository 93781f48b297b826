import { packageVersion } from '../config/package-root.ts';
import { mcpPrincipal } from '../core/principal.ts';
import { mcpRoutes } from '../http/mcp-route.ts';
import type { Route } from '../http/route.ts';
import { summaryOfMute } from '../incidents/mutes/mute.ts';
import { createOutsideCalls } from '../incidents/outside-calls.ts';
import type { McpDeps } from '../mcp/ports.ts';
import { createThrottle } from '../safety/limits/throttle.ts';
import { isOpen } from '../slack/people/access.ts';
import type { Services } from './services.ts';

/** Incidents that one client may open. */
const OPENED = { calls: 10, seconds: 3_600 } as const;

/** Where clients outside of Sentry call tools; nothing where none is configured. */
export async function createMcpSide(services: Services): Promise<readonly Route[]> {
  const { config } = services;
  const { callers } = config.mcp;
  if (callers.length === 0) return [];
  // The protocol's library is loaded only where it is spoken.
  const { createMcpEndpoint } = await import('../mcp/server.ts');
  const endpoint = createMcpEndpoint(depsOf(services));
  return mcpRoutes({
    callers,
    answer: ({ name, user }, request) => endpoint({ principal: mcpPrincipal(name), user }, request),
  });
}

function depsOf(services: Services): McpDeps {
  const { records, audit, log, modelGuard, slackWorkspace, targets } = services;
  const { access, directory } = slackWorkspace;
  const opening = createThrottle(services.sql, { role: OPENED });
  // Sentry is no way to other programs' servers.
  const own = services.offered.filter((tool) => !services.foreign.tools.some((one) => one === tool));
  return {
    version: packageVersion(),
    tools() {
      const kinds = new Set([...targets.values()].map(({ kind }) => kind));
      return own.filter(({ targetKinds }) => targetKinds?.some((kind) => kinds.has(kind)) ?? true);
    },
    mutes: async () => (await services.mutes.list()).map(summaryOfMute),
    records,
    access: {
      async mayAct({ user }) {
        const may = user === null ? { ok: true as const } : await directory.mayAct(user, null);
        return may.ok ? undefined : may;
      },
      async mayRead({ user }, incident) {
        if (user !== null) return access.mayRead(user, incident, null);
        return isOpen(await access.sightOf(await access.channelOf(incident)));
      },
    },
    calls: createOutsideCalls(services.deps),
    createManualIncident: services.createManualIncident,
    mayOpen: ({ principal }) =>
      opening.take({ role: `${principal}, opening incidents,`, tool: '', target: null, incidentId: null }),
    guard: modelGuard,
    audit,
    log,
  };
}
