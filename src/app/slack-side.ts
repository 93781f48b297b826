import { settleByClick } from '../actions/approvals/resolve-unknown-outcome.ts';
import { mayDecideNow } from '../actions/policy/may-decide-now.ts';
import { count } from '../core/count.ts';
import { refuse } from '../core/errors.ts';
import { type IncidentId, parseIncidentId } from '../core/ids.ts';
import { unescapeMrkdwn } from '../core/unescape-mrkdwn.ts';
import type { Said } from '../escalation/acknowledge.ts';
import { markedWhy } from '../incidents/questions/why.ts';
import { createReportClaims } from '../incidents/reports/report-claims.ts';
import type { Steered } from '../incidents/steering.ts';
import { formatBoard } from '../ingest/watch-board.ts';
import { listSystems } from '../memory/systems/systems.ts';
import { costLines, costReport, incidentCost } from '../record/cost.ts';
import { createHomeRecord } from '../record/home-record.ts';
import { createRecords } from '../record/record.ts';
import { formatBreaker } from '../safety/limits/format-breaker.ts';
import type { SetUp, SlackDeps } from '../slack/ports.ts';
import { createSlack, type Slack } from '../slack/slack.ts';
import { acceptedOf } from '../sources/ports.ts';
import { alertSources } from '../sources/registry.ts';
import { changesCommand } from './changes-command.ts';
import { examineParts } from './examine-parts.ts';
import { createHomeSources } from './home-facts.ts';
import { formatLayers } from './layers.ts';
import { readCommands } from './read-commands.ts';
import type { Services } from './services.ts';
import { recordSlackChanges } from './slack-changes.ts';

/** Slack with everything that people may see and do there. */
export function createSlackSide(services: Services): Slack {
  const { settings, config, slackSql, log, grades, steering } = services;
  return createSlack({
    sql: slackSql,
    log,
    bus: services.bus,
    workspace: services.slackWorkspace,
    executorId: services.executorId,
    speed: 1,
    editsPerMinute: config.slackEditsPerMinute,
    records: createRecords(slackSql),
    why: markedWhy,
    config: {
      approversOf: services.approversOf,
      get approvers() {
        return settings.approvers;
      },
      get oncallGroup() {
        return settings.oncallGroup;
      },
      mode: () => services.killSwitch.mode().mode,
    },
    decide: (decision) => decide(services, decision),
    afterwards: afterwards(services),
    plans: {
      ...services.planEdits,
      mayDecide: async (user, action, decision) => {
        const incident = await services.records.incident(action.incidentId);
        return incident
          ? mayDecideNow(services.policy, services.slackWorkspace.directory, [
              user,
              action,
              incident,
              decision,
            ])
          : notOnRecord;
      },
    },
    hint: (incidentId, by, text) => steering.hint(incidentId, by, text),
    steer: steering,
    grade: (incidentId, grade) => grades.give(incidentId, grade),
    questions: services.questions,
    digDeeper: services.digDeeper,
    investigate: services.investigate,
    retryRead: services.retryRead,
    escalation: services.escalation,
    measured: services.gate.readRecorded,
    mutes: services.mutes,
    correlation: services.correlation,
    createManualIncident: services.createManualIncident,
    acceptSlackMessage: (message, own) => takeSlackMessage(services, message, own),
    acceptSlackChange: (message, own) => takeSlackChange(services, message, own),
    memory: services.workspace.forSlack(settings),
    setUp: setUpOf(services),
    handoff: services.handoff,
    reports: createReportClaims(slackSql, services.records),
    commands: {
      ...services.switches.commands,
      ...readCommands(services),
      changes: ({ text }) => changesCommand(services, text),
      cost: async (asked) => costCommand(services, asked),
      watch: async ({ text, by }) => watchCommand(services, text, by),
      ack: async (asked) => takeCommand(asked, 'ack', services.escalation.take),
      release: async (asked) => takeCommand(asked, 'release', services.escalation.release),
      mute: async ({ text, by, incidentId }) =>
        said(await services.mutes.mute(unescapeMrkdwn(text), by, incidentId)),
      unmute: async ({ text, by }) => said(await services.mutes.unmute(text, by)),
      silence: async ({ text, by, incidentId }) =>
        said(await services.silencing.ask(unescapeMrkdwn(text), by, incidentId)),
      mutes: async () => (await muteLines(services)).join('\n') || 'Nothing is muted.',
    },
    statusLines: () => statusLines(services),
    home: homeSources(services),
    approvalsChannel: config.approvalsChannel,
  });
}

const notOnRecord = refuse('UNKNOWN_ACTION', 'This card belongs to no incident on record.');

const setUpOf = ({
  settings,
  policy,
  config,
  parts,
  testIncidents,
  killSwitch,
  slackWorkspace,
}: Services): SetUp => ({
  settings,
  isAdmin: (user) => policy.isAdmin(user, policy.asOfNow()),
  mayApprove: async (user, action, incident) =>
    (await policy.mayDecide(user, action, incident, 'approve', slackWorkspace.directory)) === undefined,
  schedules: config.escalation?.schedules.map(({ name }) => name) ?? [],
  examine: () =>
    examineParts({ targets: parts.targets, mode: killSwitch.mode().mode, hasModel: config.llm !== null }),
  raiseTest: testIncidents.raise,
});

/** What is stopped is not approved: it could not run. */
async function decide(
  { switches, records, approvals }: Services,
  decision: Parameters<SlackDeps['decide']>[0],
): ReturnType<SlackDeps['decide']> {
  const held =
    decision.decision === 'approve' && (await switches.holds(await records.action(decision.actionId)));
  return held || approvals.decide({ ...decision, reason: decision.reason ?? '' });
}

const afterwards = ({
  sql,
  records,
  audit,
  policy,
  undo,
  changeOfMind,
}: Services): SlackDeps['afterwards'] => ({
  mayUndo: (action) => undo.can(action),
  undo: (click) => undo.press(click),
  askAgain: (click) => changeOfMind.askAgain(click),
  takeNoBack: (click) => changeOfMind.takeBack(click),
  runRest: (click) => changeOfMind.runRest(click),
  settle: (click) => settleByClick({ sql, records, audit, policy }, click),
});

/** Takes in what another app posted in an alert channel. One that is no alert is logged, not an error. */
async function takeSlackMessage(
  services: Services,
  ...[message, own]: Parameters<SlackDeps['acceptSlackMessage']>
): Promise<void> {
  const { accept, hearDelivery, log, config, slackWorkspace } = services;
  if (await hearDelivery('slack', message, { receivedAt: new Date(), own })) return;
  const everyMessage = await slackWorkspace.channels.isAmong(message.channel, config.everyMessageChannels);
  for (const source of slackSources()) {
    const read = await source.read(message, { receivedAt: new Date(), own, everyMessage });
    if (!read.ok)
      log.warn(
        { source: source.name, field: read.field, reason: read.reason },
        'a message in an alert channel could not be read as an alert',
      );
    for (const alert of read.ok ? acceptedOf(read) : []) await accept(alert);
    await recordSlackChanges(services, message, (read.ok && read.changes) || [], true);
  }
}

/** Of any other channel that Sentry is in: only what was changed counts. */
async function takeSlackChange(
  services: Services,
  ...[message, own]: Parameters<SlackDeps['acceptSlackChange']>
): Promise<void> {
  for (const source of slackSources()) {
    const read = await source.read(message, { receivedAt: new Date(), own });
    await recordSlackChanges(services, message, (read.ok && read.changes) || [], false);
  }
}

const slackSources = () => alertSources.filter(({ arrives }) => arrives === 'slack');

const modelOf = ({ config }: Services): string | null => (config.llm ? config.model : null);

const currentBreaker = async ({ breaker }: Services): Promise<string> => formatBreaker(await breaker.view());

async function costCommand(
  services: Services,
  { text, incidentId }: Parameters<SlackDeps['commands'][string]>[0],
): Promise<string> {
  const asked = text.trim() === '' ? incidentId : (parseIncidentId(text) ?? null);
  const report = await costReport(services.sql, asked);
  // Of an incident its own cost alone: it may be read where nothing else of this workspace is told.
  return (
    report.incident ? incidentCost(report) : [...costLines(report), await currentBreaker(services)]
  ).join('\n');
}

/** The named incident, else the thread's. A bare number is none: whether it may be read is asked of what is named whole. */
async function takeCommand(
  { text, by, incidentId }: Parameters<SlackDeps['commands'][string]>[0],
  verb: string,
  act: (id: IncidentId, by: string) => Promise<Said>,
): Promise<string> {
  const asked = text.trim();
  const id = asked === '' ? incidentId : /^inc-/i.test(asked) ? parseIncidentId(asked) : undefined;
  if (!id) return `Say which: /sentry ${verb} INC-7`;
  const said = await act(id, by);
  return said.ok ? said.text : said.reason;
}

async function watchCommand({ watchBoard, policy }: Services, text: string, by: string): Promise<string> {
  const [verb = 'list', target, ...log] = text.trim().split(/\s+/).filter(Boolean);
  if (verb === 'list') return formatBoard(await watchBoard.list());
  if (verb !== 'stop' && verb !== 'start')
    return '/sentry watch lists the watched logs; /sentry watch stop|start <target> [log] stops and starts them.';
  // Who silences a log silences its alerts.
  if (!(await policy.isAdmin(by))) return `Only admins ${verb} the watch of logs.`;
  const answer = await watchBoard.set(verb, { target, log: log.length > 0 ? log.join(' ') : undefined, by });
  return answer.ok ? answer.text : answer.reason;
}

/** A line each; none: nothing is muted. */
const muteLines = async ({ mutes }: Services): Promise<readonly string[]> =>
  (await mutes.lines()).map((line) => `Muted: ${line}`);

const said = (answer: Steered): string => (answer.ok ? answer.text : answer.reason);

async function statusLines(services: Services): Promise<readonly string[]> {
  const { runbooks, problems, targets } = services;
  const model = modelOf(services);
  return [
    model ? `Claude: ${model}; runbooks take over when it fails.` : 'Claude: no key; runbooks investigate.',
    `${count(runbooks.length, 'runbook')}${problems.length > 0 ? `, and ${count(problems.length, 'problem')} in others` : ''}.`,
    `Targets: ${[...targets.keys()].join(', ') || 'none'}.`,
    ...(services.targetsReload?.lines() ?? []),
    ...(await services.switches.lines()),
    ...(await services.escalation.lines()),
    ...(await muteLines(services)),
    await currentBreaker(services),
    formatLayers(await services.layers()),
  ];
}

const homeSources = (services: Services): SlackDeps['home'] =>
  createHomeSources({
    policy: services.policy,
    directory: services.slackWorkspace.directory,
    targets: services.eachTarget,
    layers: services.layers,
    breaker: services.breaker,
    log: services.log,
    model: modelOf(services),
    tools: services.tools,
    kinds: services.parts.kinds,
    runbooks: () => services.runbooks.length,
    switchLines: async () => [
      ...(services.targetsReload?.lines() ?? []),
      ...(await services.switches.lines()),
      ...(await muteLines(services)),
    ],
    isStopped: async () => (await services.killSwitch.stopped(['*'])) !== undefined,
    onCall: services.escalation.onCall,
    watched: services.watchBoard.list,
    systems: () => listSystems(services.slackSql),
    readerOf: services.systems.reader,
    records: services.records,
    record: createHomeRecord(services.slackSql),
  });
