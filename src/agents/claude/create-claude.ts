import type { Diagnosis, Triage } from '../../domain/diagnosis.ts';
import { asActionId, type IncidentId } from '../../domain/ids.ts';
import type { ToolCall } from '../../domain/tool-call.ts';
import { type Investigation, type Investigator, InvestigatorFailed, type PlanOutcome } from '../ports.ts';
import { checkEvidence } from './check-evidence.ts';
import { diagnosisData, incidentPrompt, triageData } from './prompt-data.ts';
import { DiagnosisReport, NoActionReport, TriageReport } from './reports.ts';
import { type Finished, type RoleDeps, runRole } from './run-role.ts';

export interface ClaudeDeps extends RoleDeps {
  /** Names of the configured targets. */
  readonly targets: readonly string[];
  /** The incident's tool calls as recorded, for checking what a diagnosis cites. */
  readonly toolCalls: (incidentId: IncidentId) => Promise<readonly ToolCall[]>;
}

/** The investigator that reasons: one model in three roles, each held to what the record shows. */
export function createClaude(deps: ClaudeDeps): Investigator {
  return {
    name: 'claude',
    triage: (work) => triage(deps, work),
    diagnose: (work, result) => diagnose(deps, work, result),
    plan: (work, diagnosis) => plan(deps, work, diagnosis),
  };
}

async function triage(deps: ClaudeDeps, work: Investigation): Promise<Triage> {
  const outcome = await runRole(deps, work, {
    role: 'triage',
    prompt: incidentPrompt(work, { targets: deps.targets }, 'Triage this incident and call report_triage.'),
    effort: 'low',
    maxTokens: 8_000,
    report: { name: 'report_triage', description: 'Your answer: what this is.', schema: TriageReport },
    limits: { turns: 5, toolCalls: 10, usd: 0.25, wallMs: 120_000 },
  });
  const report = reported(outcome);
  if (!report.ignore) return report;
  // Alert text alone must not be able to talk an incident away.
  const looked = (await deps.toolCalls(work.incident.id)).some((call) => call.state === 'ok');
  return looked
    ? report
    : { ...report, ignore: false, reason: `${report.reason} (Not ignored: nothing was read.)` };
}

async function diagnose(deps: ClaudeDeps, work: Investigation, found: Triage): Promise<Diagnosis> {
  const outcome = await runRole(deps, work, {
    role: 'detective',
    prompt: incidentPrompt(
      work,
      { ...triageData(found), targets: deps.targets },
      'Find the cause on the live system and call report_diagnosis.',
    ),
    effort: found.routine ? 'low' : 'high',
    maxTokens: 32_000,
    report: {
      name: 'report_diagnosis',
      description: 'Your answer: the cause with its evidence, or that you cannot tell.',
      schema: DiagnosisReport,
    },
    limits: { turns: 20, toolCalls: 60, usd: 2, wallMs: 10 * 60_000 },
  });
  const report = reported(outcome);
  const calls = await deps.toolCalls(work.incident.id);
  const { diagnosis, dropped } = checkEvidence(report, {
    incidentId: work.incident.id,
    toolCalls: new Map(calls.map((call) => [call.id, call])),
    runbookIds: new Set(work.recall.runbooks.map((hit) => hit.runbookId)),
  });
  for (const [index, { claim, reason }] of dropped.entries()) {
    await work.durably(`claude:detective:r${work.incident.round}:dropped ${index}`, async () => {
      await work.dropped(claim, reason);
      return null;
    });
  }
  return diagnosis;
}

async function plan(deps: ClaudeDeps, work: Investigation, diagnosis: Diagnosis): Promise<PlanOutcome> {
  const cited = new Set(diagnosis.evidence.flatMap((evidence) => evidence.toolCallIds));
  const calls = (await deps.toolCalls(work.incident.id)).filter((call) => cited.has(call.id));
  const outcome = await runRole(deps, work, {
    role: 'surgeon',
    prompt: incidentPrompt(
      work,
      { ...diagnosisData(diagnosis, calls), targets: deps.targets },
      'Propose the one action that removes this cause, or call report_no_action.',
    ),
    effort: 'medium',
    maxTokens: 16_000,
    report: {
      name: 'report_no_action',
      description: 'Your answer when no action is safe.',
      schema: NoActionReport,
    },
    limits: { turns: 6, toolCalls: 6, usd: 0.5, wallMs: 180_000 },
    runbookId: diagnosis.runbookId,
  });
  if (outcome.kind === 'limit')
    return { kind: 'none', reason: `No action was proposed within the limit (${outcome.limit}).` };
  if (outcome.final !== undefined) return { kind: 'proposed', actionId: asActionId(outcome.final) };
  return { kind: 'none', reason: outcome.report?.reason ?? 'The model proposed nothing.' };
}

function reported<T>(outcome: Finished<T>): T {
  if (outcome.kind === 'finished' && outcome.report !== undefined) return outcome.report;
  const why = outcome.kind === 'limit' ? `its limit was reached (${outcome.limit})` : 'it gave no report';
  throw new InvestigatorFailed(`Claude came to no conclusion: ${why}`);
}
