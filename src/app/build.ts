import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { createApprovals } from '../actions/approvals/approvals.ts';
import { createGate } from '../actions/gate.ts';
import { createApprovalPolicy } from '../actions/policy/policy.ts';
import { createUndo } from '../actions/undo.ts';
import { ROUND_USD } from '../agents/claude/create-claude.ts';
import { alertChecks } from '../agents/playbook/alert-checks.ts';
import { createPlaybook } from '../agents/playbook/create-playbook.ts';
import { createDryRun } from '../agents/playbook/dry-run.ts';
import { packageRoot } from '../config/config.ts';
import { messageOf } from '../core/errors.ts';
import type { Json } from '../core/tool-call.ts';
import { createChangeOfMind } from '../incidents/after-all.ts';
import type { InvestigationDeps } from '../incidents/deps.ts';
import { createDigDeeper } from '../incidents/dig-deeper.ts';
import { createReadAgain } from '../incidents/failed-reads/read-again.ts';
import { createStopNotices, STOP_CHANNEL } from '../incidents/kill-switch/stop-notices.ts';
import { createQuestions, type Questions } from '../incidents/questions/questions.ts';
import { why } from '../incidents/questions/why.ts';
import { createSteering } from '../incidents/steering.ts';
import { createTurn } from '../incidents/turn.ts';
import { createChromaStore } from '../infra/chroma/client.ts';
import { type Listener, openListener } from '../infra/db/listen.ts';
import { createEngine } from '../infra/dbos/engine.ts';
import { createAccept } from '../ingest/accept.ts';
import { createOpenByHand } from '../ingest/open-by-hand.ts';
import { createGrades } from '../record/grades.ts';
import { createRecords } from '../record/record.ts';
import { loadRunbooks, problemLine, readRunbookFiles } from '../runbooks/load-runbooks.ts';
import { redact, redactJson } from '../safety/screen/redact.ts';
import { endSenders } from '../sources/registry.ts';
import { toolsOfKinds } from '../targets/all-tools.ts';
import { connectSystems } from '../targets/systems.ts';
import { evidenceTools } from '../tools/evidence/evidence-tools.ts';
import { memoryToolset } from '../tools/memory/memory-tools.ts';
import { createRegistry } from '../tools/registry.ts';
import { createAdviseOn } from './advise-on.ts';
import { createBotMemory } from './bot-memory.ts';
import { openEmbedding } from './embedding.ts';
import { createGuards } from './guards.ts';
import { createHttpSide } from './http-side.ts';
import { memoryUpkeep } from './memory-upkeep.ts';
import { openModel } from './model.ts';
import { countingUsage } from './model-metrics.ts';
import type { Parts } from './parts.ts';
import { createSlackSide } from './slack-side.ts';
import { createSwitches } from './switches.ts';
import { toTarget } from './targets.ts';
import { docsOf, ownPorts } from './tool-ports.ts';
import { createWorkspace } from './workspace.ts';

export type App = Awaited<ReturnType<typeof buildApp>>;

/** The composition root: every part made once and handed to who needs it. Nothing runs before `start`. */
export async function buildApp(parts: Parts) {
  const { config, store, log } = parts;
  const { sql } = store;
  const executorId = randomUUID();
  const shutdown = new AbortController();
  const metrics = new Registry();
  const targets = parts.targets.map(toTarget);
  const targetsByName = new Map(targets.map((target) => [target.name, target]));
  const systems = connectSystems(parts.kinds, parts.targets, { ownPorts: ownPorts(config) });
  // What the steps of runbooks may use; models are offered those of memory as well.
  const tools = toolsOfKinds(parts.kinds);
  const registry = createRegistry(tools);
  const offered = [...tools, ...evidenceTools, ...memoryToolset];

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
    // Slack is made after what it shows: both are asked when they are all there.
    audiences: {
      mayTell: (here, of, asker) => slack.audiences.mayTell(here, of, asker),
      apart: (of) => slack.audiences.apart(of),
    },
    runbooks: () => knownRunbooks(),
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
    memory: { documents: workspace.documents, search: memory.search, promotions: workspace.promotions },
    targets: targetsByName,
    ports: { ...systems, docs: docsOf(config) },
    identity: systems.identity,
    runbookChecks: (incident) => alertChecks(knownRunbooks(), incident),
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

  const switches = createSwitches({
    sql,
    records,
    audit,
    killSwitch,
    targets,
    changed: (id) => slack.changed(id),
    steering: () => steering,
    isAdmin: (user) => policy.isAdmin(user),
    systemOf: (target) => gate.systemOf(target),
    redact,
    log,
  });

  const slack = createSlackSide(
    {
      parts,
      guards,
      switches,
      executorId,
      records,
      grades,
      workspace,
      targets,
      runbooks,
      runbookProblems: problems.length,
    },
    () => ({
      policy,
      approvals,
      undo,
      changeOfMind,
      steering,
      questions,
      digDeeper,
      readAgain,
      openByHand,
      accept,
    }),
  );
  const policy = createApprovalPolicy({
    approvers: parts.approvers,
    admins: parts.admins,
    oncallGroup: parts.oncallGroup,
    directory: slack.directory,
    rules,
  });
  const approvals = createApprovals({ sql, records, policy, audit });
  const undo = createUndo({
    sql,
    records,
    audit,
    vault,
    killSwitch,
    gate,
    approvals,
    policy,
    registry,
    targets: targetsByName,
    shutdown: shutdown.signal,
  });
  const engine = createEngine({ databaseUrl: store.url, sql, log, executorId });

  const stops = createStopNotices({ sql, log });
  const knownRunbooks = () => [...runbooks, ...workspace.runbooks.current()];
  const model = await openModel(config, {
    sql,
    records,
    audit,
    breaker,
    targets,
    tools: offered,
    runbooks: knownRunbooks,
  });
  const deps: InvestigationDeps = {
    sql,
    records,
    audit,
    jobs: engine,
    gate,
    vault,
    approvals,
    memory,
    claude: model.investigator,
    playbook: createPlaybook({ runbooks: knownRunbooks }),
    reporter: slack,
    confirmation: {
      sourceWaitMs: config.sourceWaitMinutes * 60_000,
      holdMs: 10_000,
      timeoutMs: 2 * 60_000,
      sendsEnds: endSenders,
    },
    stops,
    log,
    shutdown: shutdown.signal,
    redact,
  };
  const upkeep = memoryUpkeep({
    sql,
    documents: workspace.documents,
    promotions: workspace.promotions,
    audiences: slack.audiences,
    advise: model.outside ? createAdviseOn(model.outside, redact) : null,
    targets: targets.map((target) => target.name),
    readSystem: systems.facts,
    episodeDays: config.memory.episodeDays,
    enabled: config.memory.enabled,
    log,
  });
  const steering = createSteering({ ...deps, audit });
  const changeOfMind = createChangeOfMind({ ...deps, policy });
  const accept = createAccept(sql, targets, { reopenWindowMs: config.reopenMinutes * 60_000 });
  const questions: Questions = createQuestions({ ...deps, places: slack.answers }, why);
  const digDeeper = createDigDeeper(deps, ROUND_USD);
  const readAgain = createReadAgain(deps, {
    mayAsk: (user) => policy.mayAsk(user),
    readerOf: systems.reader,
  });
  const openByHand = createOpenByHand(sql, accept, targets);

  const http = createHttpSide({
    config,
    sql,
    log,
    metrics,
    accept,
    changed: (id) => slack.changed(id),
    slackEvents: slack.handleHttp,
    routes: workspace.routes(config.http.adminToken),
  });

  let listener: Listener | undefined;
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
      listener = openListener(store.url, {
        channel: STOP_CHANNEL,
        onNotice: stops.heard,
        onState: stops.hearing,
        log,
      });
      await engine.start(createTurn(deps), upkeep.scheduled, questions.answer);
      void upkeep.lookNow();
      const { host, port } = await http.listen();
      memory.start(runbooks, { incomplete: problems.length > 0 });
      embedding.start();
      switches.start();
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
      await end('switch', switches.end());
      await end('cost breaker', breaker.stop());
      shutdown.abort();
      await end('turns', engine.stop(20_000));
      await end('slack', slack.stop());
      await end('workspace', workspace.stop());
      await end('embedding', embedding.stop());
      await end('memory', memory.stop());
      await end('targets', systems.close());
      await end('listener', listener?.close() ?? Promise.resolve());
      await end('guards', guards.stop());
    },
  };
}
