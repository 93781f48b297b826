import { MAX_STEPS } from '../../core/action.ts';
import { type Diagnosis, MUTATION_CONFIDENCE, type Triage } from '../../core/diagnosis.ts';
import { OpsError } from '../../core/errors.ts';
import { asActionId, asToolCallId, type ToolCallId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { ToolCallResult } from '../../core/tool-call.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { CLOSING_MS, type ReportReview } from '../loop/types.ts';
import { withChanges } from '../playbook/add-changes.ts';
import { checkKnownProblem, type RunbookCheck } from '../playbook/create-playbook.ts';
import { readAround } from '../playbook/look-around.ts';
import { plan as planFromRunbook } from '../playbook/plan.ts';
import {
  type Doubt,
  type Investigation,
  type Investigator,
  InvestigatorFailed,
  type PlanOutcome,
} from '../ports.ts';
import { answerQuestion } from './answer-question.ts';
import { changesData } from './changes-data.ts';
import { contextData } from './context-data.ts';
import { askAboutContradiction, contradicts, disagreement } from './contradiction.ts';
import { promptsVersion } from './load-prompt.ts';
import {
  checkFirstData,
  diagnosisData,
  guidanceText,
  incidentData,
  runbookData,
  triageData,
} from './prompt-data.ts';
import { DiagnosisReport, NoActionReport, TriageReport } from './reports.ts';
import { type Finished, guarded, nowOf, type RoleDeps, runRole, targetsOf } from './run-role.ts';
import { askSceptic } from './sceptic.ts';
import {
  gapsOf,
  LEAD_MS,
  SIDE_BY_SIDE_MS,
  SIDE_BY_SIDE_USD,
  type SideBySide,
  sideBySideData,
  testSideBySide,
} from './side-by-side.ts';
import { askStillSo } from './still-so.ts';
import { tidyDiagnosis, tidyNoAction, tidyTriage } from './tidy-report.ts';

export interface ClaudeDeps extends RoleDeps {
  /** The runbooks, whose steps are tried before the model is asked; without them it is always asked. */
  readonly runbooks?: (incident: Incident) => readonly Runbook[];
  /** Whether a second, independent call looks at each diagnosis. */
  readonly sceptic?: boolean;
  /** How long each explanation may be tested that is tested beside others, ms; default three minutes. */
  readonly testMs?: number;
}

const DIAGNOSIS_USD = 2;
const PLANNING_USD = 0.5;
const PLANNING_TURNS = 6;
const DIAGNOSIS_MS = 10 * 60_000;
/** Of whoever weighs what others have tested: their time is over by then, and the credential of all of them began before it. */
const WEIGHING_MS = 7 * 60_000;
/** How long Claude looks for a cause at most, ms, its last message included; a credential must outlive it. */
export const CAUSE_MS = Math.max(LEAD_MS + DIAGNOSIS_MS, SIDE_BY_SIDE_MS + WEIGHING_MS) + CLOSING_MS;
/** What one more round at full effort may cost at most, US dollars. */
export const ROUND_USD = SIDE_BY_SIDE_USD + DIAGNOSIS_USD + PLANNING_USD;

/** The investigator that reasons: one model in three roles. What it claims is held against the record by its caller. */
export function createClaude(deps: ClaudeDeps): Investigator {
  return {
    name: 'claude',
    version: { model: deps.llm.model, prompts: promptsVersion(deps.prompts) },
    triage: (work) => triage(deps, work),
    diagnose: (work, result) => diagnose(deps, work, result),
    plan: (work, diagnosis) => plan(deps, work, diagnosis),
    ...(deps.sceptic === true ? { doubt: (work, diagnosis) => doubt(deps, work, diagnosis) } : {}),
    stillSo: (work, asked) => askStillSo(guarded(deps, work, 'sceptic'), work, asked, deps.prompts),
    answer: (work, question) => answerQuestion(deps, work, question),
  };
}

async function triage(deps: ClaudeDeps, work: Investigation): Promise<Triage> {
  const report = await runRole(deps, work, {
    role: 'triage',
    data: incidentData(work, nowOf(deps), { targets: targetsOf(work) }),
    task: 'Triage this incident and call report_triage.',
    about: guidanceText(work),
    effort: 'low',
    maxTokens: 8_000,
    report: {
      name: 'report_triage',
      description:
        'Ends your work: say what kind of problem this is and how bad. The detective looks for the cause after you.',
      schema: TriageReport,
      tidy: tidyTriage(work.incident.severity),
    },
    limits: { turns: 5, toolCalls: 10, usd: 0.25, wallMs: 4 * 60_000 },
  }).then(reported, (error: unknown) => {
    if (!isSilence(error)) throw error;
    return untold(work);
  });
  if (!report.ignore) return report;
  const against = await againstIgnoring(deps, work);
  return against === null
    ? report
    : { ...report, ignore: false, reason: `${report.reason} (Not ignored: ${against}.)` };
}

/** Neither alert text nor memory nor a model's word must be able to talk an incident away: code looks, too. */
async function againstIgnoring({ toolCalls }: ClaudeDeps, work: Investigation): Promise<string | null> {
  const looked = (await toolCalls(work.incident.id)).some(
    (call) => call.state === 'ok' && call.target !== null,
  );
  if (!looked) return 'nothing was read';
  const looks = await readAround(work, 'triage');
  if (looks.length === 0) return 'nothing could be looked at';
  if (looks.some(({ result }) => isUnread(result))) return 'not all could be read';
  const red = await work.durably(`claude:triage:r${work.incident.round}:red`, () => work.redNow());
  return red[0] ?? null;
}

const isUnread = (result: ToolCallResult): boolean =>
  result.kind === 'failed' || (result.kind === 'refused' && result.code !== 'UNKNOWN_TOOL');

/** The model works, it only did not call its report tool: no reason to give the whole investigation up. */
function isSilence(error: unknown): boolean {
  return (
    error instanceof InvestigatorFailed &&
    error.cause instanceof OpsError &&
    error.cause.code === 'AGENT_NO_REPORT'
  );
}

function untold({ incident }: Investigation): Triage {
  const reason = 'The first look did not say what kind of problem this is.';
  return { severity: incident.severity, incidentType: null, routine: false, ignore: false, reason };
}

/** For the words of models only: what a runbook says is filled in by code. */
async function doubt(deps: ClaudeDeps, work: Investigation, diagnosis: Diagnosis): Promise<Doubt | null> {
  if (diagnosis.origin !== 'model' || diagnosis.evidence.length === 0) return null;
  const calls = await deps.toolCalls(work.incident.id);
  return askSceptic(guarded(deps, work, 'sceptic'), work, diagnosis, calls, deps.prompts);
}

async function diagnose(deps: ClaudeDeps, work: Investigation, found: Triage): Promise<Diagnosis> {
  const known = await knownProblem(deps, work);
  const shown = known !== null && isShown(known);
  const isFull = work.incident.effort === 'full';
  if (shown && known.runbook.conclusive === true && !isFull) return withChanges(work, known.diagnosis);
  const data = (more: object): string =>
    incidentData(work, nowOf(deps), {
      ...triageData(found),
      ...(known === null ? {} : runbookData(known)),
      ...checkFirstData(work),
      ...changesData(work),
      ...contextData(work),
      targets: targetsOf(work),
      ...more,
    });
  // What a runbook knows is tested by it already.
  const side: SideBySide =
    isFull && !shown && work.sideBySide === true
      ? await testSideBySide(deps, work, data, deps.testMs)
      : { looked: [], tested: [] };
  const { tested } = side;
  const outcome = await runRole(deps, work, {
    role: 'detective',
    data: data(sideBySideData(side)),
    task: shown
      ? 'The runbook’s reads show a cause (runbook_check). Check it: is it the cause of this alert, and what else could look the same? Then call report_diagnosis.'
      : tested.some(({ gap }) => gap === null)
        ? 'Others have tested explanations (tested). Check what you build on, weigh all of them (one that nobody disproved is not proven by that), read what is still missing, and call report_diagnosis.'
        : 'Find the cause on the live system and call report_diagnosis.',
    about: guidanceText(work),
    // Whoever has it looked at again wants more than the first look gave; a policy may ask for all at once.
    effort: (found.routine || shown) && work.incident.round === 1 && !isFull ? 'low' : 'high',
    maxTokens: 32_000,
    report: {
      name: 'report_diagnosis',
      description:
        'Ends your work: the cause with its evidence, or that the system is healthy, or that you cannot tell. Each claim cites the tool_call_id of the result that shows it and quotes it.',
      schema: DiagnosisReport,
      tidy: tidyDiagnosis,
      review: (report, recordedAs, reviews) =>
        review(
          work,
          diagnosisOf(report, { recordedAs, shown: [] }, work),
          shown ? known.diagnosis : null,
          reviews,
        ),
    },
    limits: {
      turns: 20,
      toolCalls: 60,
      usd: DIAGNOSIS_USD,
      wallMs: tested.length > 0 ? WEIGHING_MS : DIAGNOSIS_MS,
    },
  });
  const said = diagnosisOf(reported(outcome), outcome, work);
  const diagnosis = { ...said, unknown: [...said.unknown, ...gapsOf(tested)] };
  // A model that cannot tell does not take back what a runbook has read.
  if (!shown) return diagnosis;
  if (diagnosis.verdict !== 'cannot_tell' && !contradicts(diagnosis, known.diagnosis))
    return withPrevention(diagnosis, known.diagnosis);
  // A side that nothing it read carries is none: the runbook's finding stands alone.
  const objections = await work.durably(`claude:detective:r${work.incident.round}:objections`, () =>
    work.objections(diagnosis),
  );
  if (objections !== null) throw new InvestigatorFailed('nothing it read carries what it said.');
  return disagreement(diagnosis, known.diagnosis);
}

/** What keeps it from coming back is the runbook's to name, exactly: a model that agrees on the cause does not lose it. */
const withPrevention = (diagnosis: Diagnosis, { prevent }: Diagnosis): Diagnosis =>
  prevent === undefined ? diagnosis : { ...diagnosis, prevent };

/** Once: what does not stand on the record, and what a runbook's live check shows otherwise, is for the model to look at. */
async function review(
  work: Investigation,
  diagnosis: Diagnosis,
  shown: Diagnosis | null,
  reviews: number,
): Promise<ReportReview | null> {
  if (reviews > 0) return null;
  // Whoever says that nothing is wrong may have read what is well only.
  if (diagnosis.verdict === 'healthy') await readAround(work, 'diagnose');
  const objections = await work.objections(diagnosis);
  const contradicted = shown !== null && contradicts(diagnosis, shown) ? askAboutContradiction(shown) : null;
  const says = [contradicted, objections].filter((text) => text !== null).join('\n\n');
  if (says === '') return null;
  return contradicted === null ? { says } : { says, effort: 'high' };
}

/** Once, and when it may read more than it could; not where a person has said more than the runbook knows. */
async function knownProblem({ runbooks }: ClaudeDeps, work: Investigation): Promise<RunbookCheck | null> {
  const first = work.incident.round === 1 || work.retriedRead !== undefined;
  if (runbooks === undefined || !first || work.guidance.length > 0) return null;
  return checkKnownProblem({ runbooks }, work);
}

const isShown = ({ diagnosis }: RunbookCheck): boolean =>
  diagnosis.verdict === 'cause_found' && diagnosis.confidence >= MUTATION_CONFIDENCE;

/** Calls by the id they are on record with, whichever id the model used; only runbooks that it was shown. */
function diagnosisOf(
  report: DiagnosisReport,
  { recordedAs, shown }: Pick<Finished<DiagnosisReport>, 'recordedAs' | 'shown'>,
  { recall }: Investigation,
): Diagnosis {
  const read = shown.filter(({ store }) => !store.startsWith('incidents-')).map(({ id }) => id);
  const known = [...read, ...recall.runbooks.map((hit) => hit.runbookId)];
  const { missed, unexplained, hypotheses, onset, chain, symptomNow, fixConfidence, changes, ...said } =
    report;
  const callOf = (id: string): ToolCallId => asToolCallId(recordedAs.get(id) ?? id);
  return {
    ...said,
    origin: 'model',
    // A verdict that names no cause says already that the why is open.
    ...(unexplained === null || report.verdict !== 'cause_found' ? {} : { unexplained }),
    ...(hypotheses.length > 0
      ? {
          hypotheses: hypotheses.map(({ cause, for: speakFor, against, end }) => ({
            cause,
            forIds: speakFor.map(callOf),
            againstIds: against.map(callOf),
            end,
          })),
        }
      : {}),
    ...(onset === null ? {} : { onset }),
    ...(chain.length > 1 ? { chain } : {}),
    ...(symptomNow === null
      ? {}
      : {
          symptomNow: {
            present: symptomNow.present,
            toolCallId: callOf(symptomNow.toolCallId),
            ...(symptomNow.bound === null ? {} : { bound: symptomNow.bound }),
          },
        }),
    ...(fixConfidence === null ? {} : { fixConfidence }),
    // Their titles are the record's to tell.
    ...(changes.length === 0
      ? {}
      : {
          changes: changes.map(({ ref, part, toolCallIds }) => ({
            ref,
            title: ref,
            part,
            toolCallIds: toolCallIds.map(callOf),
          })),
        }),
    evidence: report.evidence.map(({ claim, toolCallIds, quote }) => ({
      claim,
      toolCallIds: [...new Set(toolCallIds.map(callOf))],
      quote: quote === '' ? null : quote,
    })),
    runbookId: known.find((id) => id === report.runbookId) ?? null,
    ...(missed.length > 0 ? { missed: missed.map(callOf) } : {}),
  };
}

async function plan(deps: ClaudeDeps, work: Investigation, diagnosis: Diagnosis): Promise<PlanOutcome> {
  // The runbook that concluded names the exact call as well.
  if (diagnosis.suggested !== undefined) return planFromRunbook(work, diagnosis);
  const cited = new Set(diagnosis.evidence.flatMap((evidence) => evidence.toolCallIds));
  const calls = (await deps.toolCalls(work.incident.id)).filter((call) => cited.has(call.id));
  const outcome = await runRole(deps, work, {
    role: 'surgeon',
    data: incidentData(work, nowOf(deps), { ...diagnosisData(diagnosis, calls), targets: targetsOf(work) }),
    task: 'Propose what removes this cause, or call report_no_action.',
    about: [diagnosis.rootCause, diagnosis.remedy, guidanceText(work)].filter(Boolean).join('\n'),
    effort: 'medium',
    maxTokens: 16_000,
    report: {
      name: 'report_no_action',
      description: 'Ends your work without a proposal: why no action is safe, and what a person should do.',
      schema: NoActionReport,
      tidy: tidyNoAction,
    },
    limits: {
      turns: PLANNING_TURNS,
      toolCalls: PLANNING_TURNS * MAX_STEPS,
      usd: PLANNING_USD,
      wallMs: 4 * 60_000,
    },
  });
  if (outcome.final !== undefined) return { kind: 'proposed', actionId: asActionId(outcome.final) };
  const said = outcome.report?.reason;
  return { kind: 'none', reason: 'Claude proposes no action.', ...(said === undefined ? {} : { said }) };
}

function reported<T>({ report }: Finished<T>): T {
  if (report === undefined) throw new InvestigatorFailed('the model stopped without a conclusion.');
  return report;
}
