import { changesAround } from '../changes/read-changes.ts';
import { packageVersion } from '../config/package-root.ts';
import { messageOf } from '../core/errors.ts';
import { type ApiRoutes, apiRoutes } from '../http/api/api-routes.ts';
import type { Api } from '../http/api/ports.ts';
import { summaryOfMute } from '../incidents/mutes/mute.ts';
import { memorySummary } from '../memory/documents/summary.ts';
import { listEpisodes } from '../memory/episodes/list-episodes.ts';
import { readWorkload } from '../record/workload.ts';
import { createThrottle } from '../safety/limits/throttle.ts';
import { isOpen } from '../slack/people/access.ts';
import { messageUrl } from '../slack/people/identity.ts';
import { nameEverybody } from '../slack/people/name-everybody.ts';
import { type Probes, readHealth } from './health.ts';
import { recordChanges } from './record-changes.ts';
import type { Services } from './services.ts';

/** Incidents that one token may open: a script that loops fills nobody's channel. */
const OPENED = { calls: 60, seconds: 3_600 } as const;

/** The HTTP API over the running services. */
export function createApiSide(services: Services, probes: Probes): ApiRoutes {
  const { config, sql, records, audit, log, memory, workspace, domains } = services;
  const opening = createThrottle(sql, { role: OPENED });
  return apiRoutes(
    {
      status: () => statusOf(services, probes),
      watchers: async () => {
        const [logs, targets] = await Promise.all([services.watchBoard.list(), services.watch.list()]);
        return { logs, targets };
      },
      mutes: async () => (await services.mutes.list()).map(summaryOfMute),
      records,
      people: peopleOf(services),
      createManualIncident: services.createManualIncident,
      mayOpen: (principal) =>
        opening.take({ role: `${principal}, opening incidents,`, tool: '', target: null, incidentId: null }),
      changes: { record: recordChanges(services), around: (asked) => changesAround(sql, asked) },
      memory: {
        domains,
        search: memory.searchWorkspace,
        summary: () => memorySummary(sql, null),
        episodes: (page) => listEpisodes(sql, page),
        promotions: workspace.promotions,
        workspace: workspace.workspace,
      },
      audit,
      log,
    },
    { tokens: config.http.apiTokens, adminToken: config.http.adminToken },
  );
}

async function statusOf(services: Services, probes: Probes): ReturnType<Api['status']> {
  const { config, sql, killSwitch, breaker, targets } = services;
  const [stopped, lines, { incidents }, cost, parts] = await Promise.all([
    killSwitch.stopped(['*']),
    services.switches.lines(),
    readWorkload(sql),
    breaker.view(),
    readHealth(probes),
  ]);
  const people = peopleOf(services);
  return {
    version: packageVersion(),
    mode: killSwitch.mode().mode,
    changes: { stopped: stopped !== undefined, lines: await Promise.all(lines.map(people.withNames)) },
    incidents: {
      unfinished: incidents.reduce((sum, { count }) => sum + count, 0),
      byState: Object.fromEntries(incidents.map(({ state, count }) => [state, count])),
    },
    cost: {
      breaker: cost.state,
      since: cost.since,
      reason: cost.reason,
      spentUsd: cost.spentUsd,
      limitUsd: cost.limits.usd,
      windowMinutes: cost.limits.windowMs / 60_000,
      todayUsd: cost.todayUsd,
      perDayUsd: cost.limits.perDayUsd,
      perIncidentUsd: cost.limits.perIncidentUsd,
    },
    model: config.llm ? config.model : null,
    targets: [...targets.keys()],
    parts: parts.map(({ name, state, reason }) => ({ name, state, reason })),
  };
}

function peopleOf({ slackWorkspace, log }: Services): Api['people'] {
  const { access } = slackWorkspace;
  return {
    async isPublic(incident) {
      try {
        const sight = await access.sightOf(await access.channelOf(incident));
        return sight === 'unknown' ? sight : isOpen(sight);
      } catch (error) {
        log.warn(
          { incident: incident.id, error: messageOf(error) },
          'where a thread will begin cannot be told',
        );
        return 'unknown';
      }
    },
    threadUrl({ channel, threadTs }) {
      const isKnown = slackWorkspace.own().userId !== null;
      return isKnown && channel !== null && threadTs !== null
        ? messageUrl(slackWorkspace.identity(), channel, threadTs)
        : null;
    },
    withNames: (text) => nameEverybody(slackWorkspace, text),
  };
}
