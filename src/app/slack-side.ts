import type { Approvals } from '../actions/approvals/approvals.ts';
import { settleByClick } from '../actions/approvals/settle-by-hand.ts';
import type { ApprovalPolicy } from '../actions/policy/policy.ts';
import type { Undo } from '../actions/undo.ts';
import { parseIncidentId } from '../core/ids.ts';
import type { Target } from '../core/target.ts';
import type { ChangeOfMind } from '../incidents/after-all.ts';
import type { DigDeeper } from '../incidents/dig-deeper.ts';
import type { ReadAgain } from '../incidents/failed-reads/read-again.ts';
import type { Questions } from '../incidents/questions/questions.ts';
import { why } from '../incidents/questions/why.ts';
import type { Steering } from '../incidents/steering.ts';
import type { Accept } from '../ingest/accept.ts';
import type { OpenByHand } from '../ingest/open-by-hand.ts';
import { costLines, costReport } from '../record/cost.ts';
import type { Grades } from '../record/grades.ts';
import type { IncidentRecords } from '../record/record.ts';
import type { Runbook } from '../runbooks/runbook.ts';
import { breakerLine } from '../safety/limits/breaker-line.ts';
import { createSlack, type Slack } from '../slack/slack.ts';
import { toolsOfKinds } from '../targets/all-tools.ts';
import type { createGuards } from './guards.ts';
import { createHomeFacts } from './home-facts.ts';
import { layersLine } from './layers.ts';
import type { Parts } from './parts.ts';
import type { createSwitches } from './switches.ts';
import { takeSlackMessage } from './take-slack-message.ts';
import type { createWorkspace } from './workspace.ts';

interface SlackSideDeps {
  readonly parts: Parts;
  readonly executorId: string;
  readonly guards: Awaited<ReturnType<typeof createGuards>>;
  readonly switches: ReturnType<typeof createSwitches>;
  readonly workspace: ReturnType<typeof createWorkspace>;
  readonly records: IncidentRecords;
  readonly grades: Grades;
  readonly targets: readonly Target[];
  readonly runbooks: readonly Runbook[];
  readonly runbookProblems: number;
}

/** What people do through Slack: made after it, because all of it answers there. */
interface MadeLater {
  readonly policy: ApprovalPolicy;
  readonly approvals: Approvals;
  readonly undo: Undo;
  readonly changeOfMind: ChangeOfMind;
  readonly steering: Steering;
  readonly questions: Questions;
  readonly digDeeper: DigDeeper;
  readonly readAgain: ReadAgain;
  readonly openByHand: OpenByHand;
  readonly accept: Accept;
}

/** Slack with everything that people may see and do there. */
export function createSlackSide(deps: SlackSideDeps, later: () => MadeLater): Slack {
  const { parts, guards, switches, workspace, records, grades, targets, runbooks } = deps;
  const { config, log } = parts;
  const { sql } = parts.store;
  const { breaker, killSwitch, audit } = guards;
  const model = config.llm ? config.model : null;
  const breakerWords = async (): Promise<string> => breakerLine(await breaker.view());

  const slack = createSlack({
    sql,
    log,
    records,
    why,
    executorId: deps.executorId,
    connection: parts.slack,
    config: {
      alertChannels: config.alertChannels,
      approvers: parts.approvers,
      approversOf: guards.approversOf,
      oncallGroup: parts.oncallGroup,
      mode: () => killSwitch.mode().mode,
    },
    decide: async (decision) => {
      if (decision.decision === 'approve') {
        const no = await switches.holds(await records.action(decision.actionId));
        if (no) return no;
      }
      const answer = await later().approvals.decide({ ...decision, reason: decision.reason ?? '' });
      if (answer.ok) slack.changed(answer.action.incidentId);
      return answer;
    },
    statusLines: async () => [
      model ? `Claude: ${model}; runbooks take over when it fails.` : 'Claude: no key; runbooks investigate.',
      `${runbooks.length} runbooks${deps.runbookProblems > 0 ? `, and ${deps.runbookProblems} problems in others` : ''}.`,
      `Targets: ${targets.map((target) => target.name).join(', ') || 'none'}.`,
      ...(await switches.lines()),
      await breakerWords(),
      layersLine(await guards.layers()),
    ],
    home: createHomeFacts({
      policy: {
        isAdmin: (user) => later().policy.isAdmin(user),
        takes: (user, about) => later().policy.takes(user, about),
      },
      targets,
      layers: guards.layers,
      breaker,
      limits: config.cost,
      log,
      model,
      tools: toolsOfKinds(parts.kinds),
      kinds: parts.kinds,
      runbooks: () => runbooks.length,
      switchLines: () => switches.lines(),
    }),
    commands: {
      ...switches.commands,
      cost: async ({ text, incidentId }) => {
        const asked = text.trim() === '' ? incidentId : (parseIncidentId(text) ?? null);
        return [...costLines(await costReport(sql, asked)), await breakerWords()].join('\n');
      },
    },
    afterwards: {
      mayUndo: (action) => later().undo.can(action),
      undo: (click) => later().undo.press(click),
      askAgain: (click) => later().changeOfMind.askAgain(click),
      takeNoBack: (click) => later().changeOfMind.takeBack(click),
      runRest: (click) => later().changeOfMind.runRest(click),
      settle: (click) => settleByClick({ sql, records, audit, policy: later().policy }, click),
    },
    memory: workspace.forSlack({ adminChannel: config.adminChannel, admins: parts.admins }),
    hint: (incidentId, by, text) => later().steering.hint(incidentId, by, text),
    questions: {
      hasModel: model !== null,
      readNow: (record, text) => later().questions.readNow(record, text),
      note: (question) => later().questions.note(question),
      ask: (question) => later().questions.ask(question),
      stop: (channel, threadTs) => later().questions.stop(channel, threadTs),
      lastOf: (channel, threadTs) => later().questions.lastOf(channel, threadTs),
    },
    openByHand: (request) => later().openByHand(request),
    ...(model === null
      ? {}
      : {
          digDeeper: {
            estimate: (incidentId) => later().digDeeper.estimate(incidentId),
            dig: (incidentId, by) => later().digDeeper.dig(incidentId, by),
          },
        }),
    readAgain: {
      ask: (read, by) => later().readAgain.ask(read, by),
      grant: (read, by) => later().readAgain.grant(read, by),
    },
    grade: (incidentId, grade) => grades.give(incidentId, grade),
    acceptSlackMessage: (message, own) =>
      takeSlackMessage(message, own, { accept: later().accept, changed: (id) => slack.changed(id), log }),
  });
  return slack;
}
