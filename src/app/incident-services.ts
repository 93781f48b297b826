import { ROUND_USD } from '../agents/claude/create-claude.ts';
import { createPlaybook } from '../agents/playbook/create-playbook.ts';
import { deleteOldChanges } from '../changes/delete-old-changes.ts';
import { deleteOldLooks } from '../changes/looks/look-rows.ts';
import type { Looks } from '../changes/looks/looks.ts';
import type { Config } from '../config/config.ts';
import { live } from '../core/live.ts';
import { SILENCE_TOOL } from '../core/silence-tool.ts';
import { createChangeOfMind } from '../incidents/after-all.ts';
import { channels } from '../incidents/context/channels.ts';
import { createContextGathering } from '../incidents/context/context-gathered.ts';
import { contextParts } from '../incidents/context/parts.ts';
import { statusPages } from '../incidents/context/status-pages.ts';
import { thread } from '../incidents/context/thread.ts';
import { usualValues } from '../incidents/context/usual-values.ts';
import { createCorrelation } from '../incidents/correlation/correlation.ts';
import { systemsOf } from '../incidents/correlation/topology.ts';
import type { InvestigationDeps } from '../incidents/deps.ts';
import { createDigDeeper } from '../incidents/dig-deeper.ts';
import { createPlanEdits } from '../incidents/edit-plan.ts';
import { createRetryRead } from '../incidents/failed-reads/retry-read.ts';
import { createInvestigate } from '../incidents/investigate.ts';
import { createStopNotices } from '../incidents/kill-switch/stop-notices.ts';
import { createMutes } from '../incidents/mutes/mutes.ts';
import { LOOK_PACE } from '../incidents/phases/look-again.ts';
import { sweepSilent } from '../incidents/phases/silence.ts';
import { createQuestions } from '../incidents/questions/questions.ts';
import { createSilencing } from '../incidents/silence-at-source.ts';
import { createSteering } from '../incidents/steering.ts';
import { createLastUsual, createUnusualOf } from '../incidents/unusual-of.ts';
import { createEngine } from '../infra/dbos/engine.ts';
import { deleteOldPresence } from '../infra/dbos/presence.ts';
import { createAccept, createAcceptIn } from '../ingest/accept.ts';
import { createManualIncidents } from '../ingest/create-manual-incident.ts';
import { type Places, tellingElsewhere } from '../ingest/tell-elsewhere.ts';
import { createWatchBoard } from '../ingest/watch-board.ts';
import { createLogWatch } from '../ingest/watch-logs.ts';
import { createTargetWatch } from '../ingest/watch-targets.ts';
import { deleteOldDetails } from '../record/retention.ts';
import { auditConfigChange } from '../safety/audit/audit-config-change.ts';
import { redact } from '../safety/screen/redact.ts';
import { isOpen } from '../slack/people/access.ts';
import { isIdentifying } from '../sources/fingerprint.ts';
import { endSenders, repeaters } from '../sources/registry.ts';
import { domainOfLabels } from '../targets/domains.ts';
import { LOOK_MINUTES, takeSamples } from '../usual/take-samples.ts';
import type { ActionServices } from './action-services.ts';
import { createAdviseOn } from './advise-on.ts';
import { alertCounter } from './alert-metrics.ts';
import { auditedSettings } from './audited-settings.ts';
import { readChannelsOf } from './channel-words.ts';
import type { Foundations } from './foundations.ts';
import type { Guards } from './guards.ts';
import type { MemoryServices } from './memory-services.ts';
import { memoryUpkeep } from './memory-upkeep.ts';
import { type Model, openModel } from './model.ts';
import { registerMutes } from './mute-metrics.ts';
import { createSwitches } from './switches.ts';
import { createTargetsReload } from './targets-reload.ts';
import { readThreadOf } from './thread-words.ts';
import { fetchPage } from './tool-ports.ts';

export type IncidentServices = Awaited<ReturnType<typeof createIncidentServices>>;

/** The incident's path: accepted, worked on turn by turn, steered and asked about by people. */
export async function createIncidentServices(
  on: Foundations,
  guards: Guards,
  remembered: MemoryServices,
  actions: ActionServices,
) {
  const { parts, config, sql, log, records, targets } = on;
  const { audit, breaker, killSwitch } = guards;
  const { policy, gate, looks } = actions;
  const model = await openModel(config, {
    records,
    metrics: on.metrics,
    audit,
    breaker,
    guard: guards.modelGuard,
    targets,
    tools: on.offered,
    runbooks: remembered.knownRunbooks,
  });
  const { audiences } = on.slackWorkspace;
  const engine = createEngine({ databaseUrl: parts.store.url, sql, log, executorId: on.executorId });
  let maintenance = config.maintenance;
  const mutes = createMutes({
    sql,
    records,
    audit,
    isAdmin: (user) => policy.isAdmin(user),
    isIdentifying,
    isPublic: async (id) => {
      const { channelOf, isPublic } = placesOf(on);
      return isPublic(await channelOf(id));
    },
    windows: () => maintenance,
    log,
  });
  registerMutes(on.metrics, mutes.list);
  const correlation = createCorrelation({
    sql,
    records,
    audit,
    effort: guards.rules.effort,
    systems: () => systemsOf(parts.kinds, targets.values()),
    windowMs: config.correlation.enabled ? config.correlation.windowMinutes * 60_000 : null,
    isForSame: async (a, b) =>
      (
        await Promise.all(
          [[a, b] as const, [b, a] as const].map(([here, of]) => audiences.mayTell(here, [of])),
        )
      ).every(({ keptBack }) => keptBack.size === 0),
  });
  const deps: InvestigationDeps = {
    sql,
    records,
    audit,
    jobs: engine,
    gate,
    vault: guards.vault,
    approvals: actions.approvals,
    memory: remembered.memory,
    claude: model.investigator,
    playbook: createPlaybook({ runbooks: remembered.knownRunbooks }),
    confirmation: {
      sourceWaitMs: config.sourceWaitMinutes * 60_000,
      holdMs: 10_000,
      timeoutMs: 2 * 60_000,
      sendsEnds: endSenders(),
      repeats: repeaters(),
    },
    stops: createStopNotices({ sql, bus: on.bus, log }),
    mutes,
    correlation,
    looksAgain: LOOK_PACE,
    asksWhatChanged: true,
    context: createContextGathering([
      ...contextParts,
      ...(config.usualMinutes === null ? [] : [usualValues(createLastUsual(sql, on.systems.usualReads))]),
      statusPages(config.statusPages, fetchPage),
      thread(readThreadOf(on.slackWorkspace)),
      channels(readChannelsOf(on.slackWorkspace), targets),
    ]),
    ...(config.usualMinutes === null ? {} : { unusualOf: createUnusualOf(sql, on.systems.usualReads) }),
    effort: guards.rules.effort,
    log,
    shutdown: on.shutdown.signal,
    redact,
  };
  const steering = createSteering(deps);
  const silences = on.offered.find(({ name }) => name === SILENCE_TOOL);
  const how = [
    on.eachTarget,
    domainOfLabels(on.parts.kinds),
    { reopenWindowMs: config.reopenMinutes * 60_000 },
  ] as const;
  const { counting, countingIn } = alertCounter(on.metrics);
  const accept = counting(tellingElsewhere(createAccept(sql, ...how), placesOf(on), log));
  const watch = createTargetWatch({ sql, accept, watched: on.systems.watched, log });
  const logWatch = createLogWatch({
    sql,
    acceptIn: countingIn(createAcceptIn(...how)),
    watched: on.systems.logs,
    executorId: on.executorId,
    log,
  });
  return {
    engine,
    deps,
    accept,
    watch,
    logWatch,
    watchBoard: createWatchBoard({ sql, audit, watched: on.systems.logs }),
    mutes,
    correlation,
    targetsReload: reloadOf(
      on,
      guards,
      (windows) => {
        maintenance = windows;
      },
      () => {
        watch.look();
        logWatch.look();
        // Which systems the new names stand for: a stop holds for the system, whatever it is called.
        for (const name of targets.keys()) void gate.systemOf(name);
      },
    ),
    createManualIncident: createManualIncidents(sql, accept, on.eachTarget),
    steering,
    changeOfMind: createChangeOfMind({ ...deps, policy }),
    planEdits: createPlanEdits({ ...deps, policy, tools: on.registry }),
    silencing: createSilencing({
      ...deps,
      targets,
      canSilence: ({ kind, refuses }) =>
        silences?.targetKinds?.includes(kind) === true && refuses?.[SILENCE_TOOL] === undefined,
      isIdentifying,
    }),
    questions: createQuestions(deps),
    digDeeper: model.investigator ? createDigDeeper(deps, ROUND_USD) : null,
    investigate: createInvestigate(deps),
    retryRead: createRetryRead(deps, {
      mayAsk: (user) => policy.mayAsk(user),
      readerOf: on.systems.reader,
    }),
    switches: createSwitches({
      sql,
      records,
      audit,
      killSwitch,
      targets,
      domains: on.domains,
      steering,
      isAdmin: (user) => policy.isAdmin(user),
      get admins() {
        return on.settings.admins;
      },
      systemOf: (target) => gate.systemOf(target),
      folder: guards.ownFolder,
      redact,
      log,
    }),
    looks,
    upkeep: upkeepOf(on, guards, remembered, actions, model, looks),
  };
}

/** Null in the playground, whose systems stand in no file. */
function reloadOf(
  { parts, config, systems, sql, settings, log, slackWorkspace }: Foundations,
  { audit }: Guards,
  maintain: (windows: Config['maintenance']) => void,
  changed: () => void,
) {
  if (config.playgroundTarget) return null;
  return createTargetsReload({
    file: config.targetsFile,
    apiTokens: config.http.apiTokens,
    kinds: parts.kinds,
    systems,
    audit: (targets) =>
      auditConfigChange(
        { sql, audit },
        { name: 'settings', kind: 'config.changed', ...auditedSettings({ ...config, targets }, parts.kinds) },
      ),
    maintain,
    changed,
    tell: (text) => slackWorkspace.announce(text, settings.adminChannel),
    log,
  });
}

/** What is done by the clock, once for all processes. */
function upkeepOf(
  on: Foundations,
  { audit }: Guards,
  remembered: MemoryServices,
  { workspace }: ActionServices,
  model: Model,
  looks: Looks,
) {
  const { config, sql, log } = on;
  const memory = memoryUpkeep({
    sql,
    domains: on.domains,
    documents: remembered.documents,
    promotions: workspace.promotions,
    audiences: on.slackWorkspace.audiences,
    advise: model.outside ? createAdviseOn(model.outside, redact) : null,
    targets: live(() => on.targets.keys()),
    readSystem: on.systems.facts,
    episodeDays: config.memory.episodeDays,
    enabled: config.memory.enabled,
    log,
  });
  const days = config.retentionDays;
  const retention = {
    name: 'retention',
    cron: '37 * * * *',
    work: async (signal: AbortSignal) => {
      if (days === null) return;
      await deleteOldDetails({ sql, audit, log }, days, signal);
      await deleteOldChanges(sql, days, signal);
      await deleteOldLooks(sql, days);
      await deleteOldPresence(sql, days);
    },
  };
  const silence = {
    name: 'silence',
    cron: '17 * * * *',
    work: () => sweepSilent(sql, { sendsEnds: endSenders(), repeats: repeaters() }),
  };
  const look = {
    name: 'own looks',
    cron: `*/${config.lookMinutes ?? 5} * * * *`,
    work: (signal: AbortSignal) => looks.lookAtAll(signal),
  };
  const { usualMinutes: everyMinutes } = config;
  const usual = {
    name: 'usual values',
    cron: `*/${LOOK_MINUTES} * * * *`,
    work: async (signal: AbortSignal) => {
      if (everyMinutes === null) return;
      await takeSamples({ sql, targets: on.targets, read: on.systems.usual, everyMinutes, log }, signal);
    },
  };
  return { ...memory, scheduled: [...memory.scheduled, retention, silence, look, usual] };
}

const placesOf = ({ records, slackWorkspace: { homeOf, access, announce } }: Foundations): Places => ({
  homeOf,
  channelOf: async (id) => access.channelOf({ id, channel: (await records.incident(id))?.channel ?? null }),
  isPublic: async (channel) => isOpen(await access.sightOf(channel)),
  announce,
});
