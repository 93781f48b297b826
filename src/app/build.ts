import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createClaude, ROUND_USD } from '../agents/claude/create-claude.ts';
import { createPlaybook } from '../agents/playbook/create-playbook.ts';
import { createDryRun } from '../agents/playbook/dry-run.ts';
import { createApprovals } from '../approvals/approvals.ts';
import { createApprovalPolicy } from '../approvals/policy.ts';
import { type Config, type PostgresTargetConfig, packageRoot } from '../config.ts';
import { messageOf } from '../domain/errors.ts';
import type { HostTargetConfig } from '../domain/host-target.ts';
import { type IncidentId, parseIncidentId } from '../domain/ids.ts';
import { domains } from '../domain/incident.ts';
import type { Log } from '../domain/log.ts';
import type { Principal } from '../domain/principal.ts';
import type { Json } from '../domain/tool-call.ts';
import { createGate } from '../gate/gate.ts';
import { createRateLimit } from '../http/rate-limit.ts';
import { createHttpServer } from '../http/server.ts';
import { statusRoutes } from '../http/status-routes.ts';
import { webhookRoute } from '../http/webhook-route.ts';
import { createChromaStore } from '../infra/chroma/client.ts';
import { createEngine } from '../infra/dbos/engine.ts';
import { createHostTargets } from '../infra/host/create-host-targets.ts';
import { createMetrics } from '../infra/metrics/registry.ts';
import { createPostgresTargets } from '../infra/postgres/create-postgres-targets.ts';
import { createAccept } from '../ingest/accept.ts';
import { alertmanager } from '../ingest/alertmanager/index.ts';
import { createOpenByHand } from '../ingest/open-by-hand.ts';
import { slackMessage } from '../ingest/slack-message/index.ts';
import type { InvestigationDeps } from '../investigation/deps.ts';
import { createDigDeeper } from '../investigation/dig-deeper.ts';
import { createFollowUp } from '../investigation/follow-up.ts';
import { createSteering, type Steered } from '../investigation/steering.ts';
import { createSwitchOrders, stoppedForNow } from '../investigation/switch-orders.ts';
import { createSwitchboard } from '../investigation/switchboard.ts';
import { createTurn } from '../investigation/turn.ts';
import { auditedBackend } from '../llm/audited-backend.ts';
import { createBackend, modelName } from '../llm/create-backend.ts';
import { createModelGateway } from '../llm/gateway.ts';
import { loadRunbooks, problemLine, readRunbookFiles } from '../memory/runbooks/load-runbooks.ts';
import { costLines, costReport } from '../record/cost.ts';
import { createGrades } from '../record/grades.ts';
import { createRecords } from '../record/record.ts';
import { why } from '../record/why.ts';
import { redact, redactJson } from '../screen/redact.ts';
import { breakerLine } from '../security/breaker-line.ts';
import type { SlackConnection } from '../slack/ports.ts';
import { createSlack } from '../slack/slack.ts';
import { allTools } from '../tools/all.ts';
import { evidenceTools } from '../tools/evidence/evidence-tools.ts';
import { memoryToolset } from '../tools/memory/memory-tools.ts';
import { createRegistry } from '../tools/registry.ts';
import { createAdviseOn } from './advise-on.ts';
import { createBotMemory } from './bot-memory.ts';
import { openEmbedding } from './embedding.ts';
import { createGuards } from './guards.ts';
import { deniedPorts, docsOf, localAccess } from './host-access.ts';
import { layersLine } from './layers.ts';
import { memoryUpkeep } from './memory-upkeep.ts';
import { openModelGuard } from './model-guard.ts';
import { countingUsage } from './model-metrics.ts';
import { modelOutside } from './model-outside.ts';
import { createReadSystem } from './read-system.ts';
import type { Store } from './store.ts';
import { configuredTargets } from './targets.ts';
import { createWorkspace } from './workspace.ts';

/** What the parts are made from: the configuration with the embedded parts' addresses filled in. */
export interface Parts {
  readonly config: Config;
  readonly store: Store;
  readonly chromaHost: string;
  readonly slack: SlackConnection;
  readonly targets: readonly PostgresTargetConfig[];
  readonly hosts: readonly HostTargetConfig[];
  readonly approvers: readonly Principal[];
  readonly admins: readonly Principal[];
  readonly oncallGroup: string | null;
  readonly log: Log;
}

export type App = Awaited<ReturnType<typeof buildApp>>;

/** The composition root: every part made once and handed to who needs it. Nothing runs before `start`. */
export async function buildApp(parts: Parts) {
  const { config, store, log } = parts;
  const { sql } = store;
  const executorId = randomUUID();
  const shutdown = new AbortController();
  const metrics = createMetrics();
  const targets = configuredTargets(config);
  const postgres = createPostgresTargets(parts.targets);
  // What the steps of runbooks may use; models are offered those of memory as well.
  const hosts = createHostTargets(parts.hosts, { access: localAccess, deniedPorts: deniedPorts(config) });
  const registry = createRegistry(allTools);
  const offered = [...allTools, ...evidenceTools, ...memoryToolset];

  const runbooksDir = config.runbooksDir ?? join(packageRoot(), 'runbooks');
  const { runbooks, problems } = await loadRunbooks(runbooksDir, { tools: registry });
  for (const problem of problems) log.error({ runbook: problem.file }, problemLine(problem));

  const records = countingUsage(createRecords(sql), metrics);
  const grades = createGrades(sql, records);
  const guards = await createGuards(parts, {
    executorId,
    metrics,
    targets,
    announce: (text, channel) => slack.announce(text, channel),
  });
  const { audit, vault, killSwitch, rules, breaker } = guards;
  const runbookFiles = await readRunbookFiles(runbooksDir);
  const workspace = createWorkspace({
    sql,
    events: records,
    audit,
    enabled: config.memory.enabled,
    isAdmin: (user) => policy.isAdmin(user),
    tools: registry,
    files: () => runbookFiles,
    dryRun: (runbook, incidentId) => dryRun(runbook, incidentId),
    changed: (jobId) => slack.proposalChanged(jobId),
    index: (promoted) => memory.indexPromoted(promoted),
    flush: () => memory.flushOutbox(),
    log,
  });
  const vectors = createChromaStore({ host: parts.chromaHost, log });
  const embedding = await openEmbedding({
    sql,
    chromaHost: parts.chromaHost,
    vectors,
    choice: config.memory.embedding,
    enabled: config.memory.enabled,
    log,
  });
  const memory = createBotMemory({
    sql,
    records,
    audit,
    vectors,
    embedder: embedding.embedder,
    documents: workspace.documents,
    settings: config.memory,
    redact,
    log,
  });
  const gate = createGate({
    rules,
    sql,
    records,
    audit,
    vault,
    throttle: guards.throttle,
    killSwitch,
    registry: createRegistry(offered),
    memory: { documents: memory.documents, promotions: workspace.promotions },
    targets: new Map(targets.map((target) => [target.name, target])),
    ports: { postgres, host: hosts, docs: docsOf(config) },
    identity: async (target) => (hosts.has(target) ? hosts : postgres).identity(target),
    redact,
    redactJson: (value: Json) => redactJson(value),
    approvalMinutes: config.approvalMinutes,
    log,
  });

  const dryRun = createDryRun({
    load: (id) => records.load(id),
    gate,
    vault,
    targets,
    shutdown: shutdown.signal,
  });

  const breakerWords = async (): Promise<string> => breakerLine(await breaker.view(), config.cost);
  const said = (answer: Steered): string => (answer.ok ? answer.text : answer.reason);
  const targetsByName = new Map(targets.map((target) => [target.name, target]));
  const board = createSwitchboard({
    sql,
    records,
    audit,
    killSwitch,
    targets: targetsByName,
    reporter: { changed: (id) => slack.changed(id) },
    redact,
    log,
  });
  const orders = createSwitchOrders({
    board,
    steering: {
      stop: (id, by, reason) => steering.stop(id, by, reason),
      resume: (id, by) => steering.resume(id, by),
    },
    isAdmin: (user) => policy.isAdmin(user),
    domains,
    targets: [...targetsByName.keys()],
  });
  const switchLines = async (): Promise<readonly string[]> => {
    const lines = [
      ...(killSwitch.local() ? [killSwitch.local()?.reason ?? ''] : []),
      ...(await orders.lines()),
    ];
    return lines.length > 0 ? lines : ['Nothing is stopped: approved fixes run.'];
  };

  const slack = createSlack({
    sql,
    log,
    connection: parts.slack,
    executorId,
    config: {
      alertChannels: config.alertChannels,
      approvers: parts.approvers,
      approversOf: async (action) => {
        const demands = await rules.demands(action).catch((error: unknown) => {
          log.error(
            { error: messageOf(error) },
            'the policy cannot be read: a card names nobody who may approve',
          );
          return null;
        });
        return demands === null || 'ok' in demands ? [] : demands.approvers;
      },
      oncallGroup: parts.oncallGroup,
      mode: config.mode,
    },
    records,
    why,
    decide: async (decision) => {
      if (decision.decision === 'approve') {
        const action = await records.action(decision.actionId);
        const no = await stoppedForNow(killSwitch, action, (name) => targetsByName.get(name)?.domain);
        if (no) return no;
      }
      const answer = await approvals.decide({ ...decision, reason: decision.reason ?? '' });
      if (answer.ok) slack.changed(answer.action.incidentId);
      return answer;
    },
    statusLines: async () => [
      model
        ? `Claude: ${config.model}; runbooks take over when it fails.`
        : 'Claude: no key; runbooks investigate.',
      `${runbooks.length} runbooks${problems.length > 0 ? `, and ${problems.length} problems in others` : ''}.`,
      `Targets: ${targets.map((target) => target.name).join(', ') || 'none'}.`,
      ...(await switchLines()),
      await breakerWords(),
      layersLine(await guards.layers()),
    ],
    commands: {
      stop: async ({ text, by, say }) => said(await orders.stop(text, by, say)),
      resume: async ({ text, by }) => said(await orders.resume(text, by)),
      cost: async ({ text, incidentId }) => {
        const asked = text.trim() === '' ? incidentId : (parseIncidentId(text) ?? null);
        return [...costLines(await costReport(sql, asked)), await breakerWords()].join('\n');
      },
    },
    memory: workspace.forSlack({ adminChannel: config.adminChannel, admins: parts.admins }),
    hint: (incidentId, by, text) => steering.hint(incidentId, by, text),
    followUp: (incidentId, question, onWords) => followUp(incidentId, question, onWords),
    openByHand: (request) => openByHand(request),
    ...(config.llm
      ? {
          digDeeper: {
            estimate: (incidentId) => digDeeper.estimate(incidentId),
            dig: (incidentId, by) => digDeeper.dig(incidentId, by),
          },
        }
      : {}),
    grade: (incidentId, grade) => grades.give(incidentId, grade),
    acceptSlackMessage: async (message, own) => {
      const read = slackMessage.read(message, { receivedAt: new Date(), own });
      if (!read.ok) {
        log.warn(
          { field: read.field, reason: read.reason },
          'a message in an alert channel could not be read as an alert',
        );
        return;
      }
      for (const alert of read.alerts) {
        const accepted = await accept(alert);
        if (accepted.incidentId) slack.changed(accepted.incidentId);
      }
    },
  });
  const policy = createApprovalPolicy({
    approvers: parts.approvers,
    admins: parts.admins,
    directory: slack.directory,
    rules,
  });
  const approvals = createApprovals({ sql, records, policy, audit });
  const engine = createEngine({ databaseUrl: store.url, sql, log, executorId });

  const model = config.llm
    ? createModelGateway({
        backend: auditedBackend(createBackend(config.llm), audit),
        model: modelName(config.llm, config.model),
      })
    : null;
  const guard = await openModelGuard({ sql, records, audit, policy: config.modelGuard });
  const knownRunbooks = () => [...runbooks, ...workspace.runbooks.current()];
  const deps: InvestigationDeps = {
    sql,
    records,
    audit,
    jobs: engine,
    gate,
    vault,
    approvals,
    memory,
    claude: model
      ? createClaude({
          llm: model,
          breaker,
          guard,
          tools: offered,
          targets: targets.map((target) => target.name),
          runbooks: knownRunbooks,
          fallbackModel:
            config.llm && config.fallbackModel ? modelName(config.llm, config.fallbackModel) : undefined,
          kindOf: (name) => targets.find((target) => target.name === name)?.kind,
          toolCalls: async (id: IncidentId) => (await records.load(id))?.toolCalls ?? [],
        })
      : null,
    playbook: createPlaybook({ runbooks: knownRunbooks }),
    reporter: slack,
    log,
    shutdown: shutdown.signal,
    redact,
  };
  const upkeep = memoryUpkeep({
    sql,
    documents: workspace.documents,
    promotions: workspace.promotions,
    advise: model ? createAdviseOn(modelOutside(model, { records, breaker, guard, audit }), redact) : null,
    targets: targets.map((target) => target.name),
    readSystem: createReadSystem({ postgres, hosts }),
    episodeDays: config.memory.episodeDays,
    enabled: config.memory.enabled,
    log,
  });
  const steering = createSteering({ ...deps, audit });
  const accept = createAccept(sql, targets, { reopenWindowMs: config.reopenMinutes * 60_000 });
  const followUp = createFollowUp(deps, why);
  const digDeeper = createDigDeeper(deps, ROUND_USD);
  const openByHand = createOpenByHand(sql, accept, targets);

  const http = createHttpServer({
    host: config.http.host,
    port: config.http.port,
    log,
    metrics,
    rateLimit: createRateLimit({ known: config.http.rate, strangers: Math.ceil(config.http.rate / 10) }),
    ...(slack.handleHttp ? { mounts: { '/slack/events': slack.handleHttp } } : {}),
    routes: [
      webhookRoute({
        source: alertmanager,
        accept,
        secret: config.http.webhookSecret,
        log,
        metrics,
        onAccepted: ({ incidentId }) => {
          if (incidentId) slack.changed(incidentId);
        },
      }),
      ...workspace.routes(config.http.adminToken),
      ...statusRoutes({
        checks: [{ name: 'database', check: async () => void (await sql`SELECT 1`) }],
        renderMetrics: () => metrics.render(),
      }),
    ],
  });

  return {
    slack,
    http,
    problems,
    runbooks,
    /** How each layer of security stands now. */
    layers: guards.layers,
    /** Starts the parts in order; the HTTP server last but for Slack, so that what it accepts can be worked on. */
    async start(): Promise<{ readonly httpUrl: string }> {
      await guards.start();
      await memory.seedStores();
      await workspace.start();
      await engine.start(createTurn(deps), upkeep.scheduled);
      void upkeep.lookNow();
      const { host, port } = await http.listen();
      memory.start(runbooks);
      embedding.start();
      board.start();
      breaker.start((text) => slack.announce(text));
      await slack.start();
      return { httpUrl: `http://${host}:${port}` };
    },
    /** In this order: refuse new work, end tool calls, then the turns, Slack's last messages, and the connections. */
    async stop(): Promise<void> {
      const end = async (what: string, stopping: Promise<unknown>): Promise<void> => {
        await stopping.catch((error: unknown) =>
          log.error({ part: what, error: messageOf(error) }, 'could not stop cleanly'),
        );
      };
      await end('http', http.close());
      await end('switch', board.end());
      await end('cost breaker', breaker.stop());
      shutdown.abort();
      await end('turns', engine.stop(20_000));
      await end('slack', slack.stop());
      await end('workspace', workspace.stop());
      await end('embedding', embedding.stop());
      await end('memory', memory.stop());
      await end('targets', postgres.close());
      await end('guards', guards.stop());
    },
  };
}
