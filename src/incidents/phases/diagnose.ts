import {
  actingConfidence,
  type Diagnosis,
  describeVerdict,
  MUTATION_CONFIDENCE,
  type Side,
  type Triage,
} from '../../core/diagnosis.ts';
import type { Incident } from '../../core/incident.ts';
import type { CheckedDiagnosis } from '../claims/evidence.ts';
import { verifyEvidence } from '../claims/verify-evidence.ts';
import { move } from '../move.ts';
import { recallNow, rememberNow } from '../recall.ts';
import { triageOf } from '../triaged.ts';
import { withUnusual } from '../unusual-of.ts';
import { withInvestigator } from '../work.ts';
import type { PhaseRun } from './phase-run.ts';

/** `diagnosing` → `planning` with a cause worth acting on, else `reported`. */
export async function diagnose(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const recall = await recallNow(run, 'triaged', incident.incidentType);
  const checked = await withInvestigator(run, 'detective', recall, async (investigator, work) => {
    const raw = await investigator.diagnose(work, await triageOnRecord(deps, incident));
    return verifyEvidence(run, investigator, work, raw);
  });
  await run.durably('conclude', async () => {
    const diagnosis = await withUnusual(deps, incident, checked.diagnosis);
    const act = worthActingOn(checked) && incident.target !== null;
    return move(deps, incident, {
      from: 'diagnosing',
      to: act ? 'planning' : 'reported',
      reason: act ? foundReason(diagnosis) : reportReason(checked),
      key: `diagnosed:${incident.round}`,
      changes: {
        cause: diagnosis.verdict === 'cause_found' ? deps.redact(diagnosis.rootCause) : null,
        confidence: diagnosis.confidence,
        verdict: null,
        nextStep: act ? 'Working out a safe fix.' : nextStepOf(diagnosis),
      },
      events: [
        { type: 'diagnosis.concluded', round: incident.round, diagnosis: redacted(diagnosis, deps.redact) },
      ],
      turnAfterMs: act ? 0 : null,
    });
  });
  await rememberNow(run);
}

export function worthActingOn({ diagnosis, live }: CheckedDiagnosis): boolean {
  return diagnosis.verdict === 'cause_found' && actingConfidence(diagnosis) >= MUTATION_CONFIDENCE && live;
}

/** What triage concluded, with why: that stands in its event. */
export async function triageOnRecord({ sql }: PhaseRun['deps'], incident: Incident): Promise<Triage> {
  const [row] = await sql<{ reason: string | null }>`
    SELECT body->'triage'->>'reason' AS reason FROM event
    WHERE incident_id = ${incident.id} AND type = 'triage.concluded' ORDER BY seq DESC LIMIT 1`;
  return triageOf(incident, row?.reason ?? '');
}

function reportReason({ diagnosis, live }: CheckedDiagnosis): string {
  if (diagnosis.verdict === 'healthy') return 'The live system shows nothing wrong now.';
  if (diagnosis.disagreement) return 'The runbook’s check and Claude do not agree on the cause.';
  if (diagnosis.verdict === 'cannot_tell') return 'The cause cannot be told from what could be read.';
  if (!live) return 'No claim stands on what the live system shows, so nothing is proposed.';
  const sure = actingConfidence(diagnosis);
  if (sure < MUTATION_CONFIDENCE)
    return `Sure to ${Math.round(sure * 100)} %${sure < diagnosis.confidence ? ' of a fix' : ''}, and a fix needs ${MUTATION_CONFIDENCE * 100} %.`;
  return `${foundReason(diagnosis)} No configured target can be changed.`;
}

/** What a model leaves open is its own words, which stand with its diagnosis. */
function foundReason(diagnosis: Diagnosis): string {
  const { origin, unexplained } = diagnosis;
  if (unexplained === undefined) return 'The cause is found.';
  return origin === 'runbook'
    ? `What is wrong is clear; not known is ${unexplained}.`
    : `${describeVerdict(diagnosis)}.`;
}

/** By the verdict and what is on record: no words of a model tell what happens next. */
function nextStepOf(diagnosis: Diagnosis): string {
  if (diagnosis.verdict === 'healthy')
    return 'Nothing to do now; the alert should end by itself. If it does not, add a hint in the thread.';
  if (diagnosis.disagreement)
    return 'A person has to judge: the runbook’s check and Claude do not agree. Both sides are in the thread, under “Evidence”.';
  // A runbook's remedy was written and reviewed by people.
  if (diagnosis.origin === 'runbook' && diagnosis.remedy !== null) return diagnosis.remedy;
  if ((diagnosis.unread?.length ?? 0) > 0)
    return 'What could not be read has a button in the thread: it runs it, or says what to grant.';
  if (diagnosis.origin === 'runbook' && diagnosis.unknown[0] !== undefined) return diagnosis.unknown[0];
  if (diagnosis.verdict === 'cause_found')
    return diagnosis.remedy === null
      ? 'A person should look at the cause; what it stands on is in the thread, under “Evidence”. Nothing is changed.'
      : 'A person should look at the cause and, under “Evidence” in the thread, at Claude’s suggestion; nothing is changed.';
  return 'A person should look; add a hint in the thread to have it looked at again.';
}

export function redacted(diagnosis: Diagnosis, redact: (text: string) => string): Diagnosis {
  const maybe = (text: string | null): string | null => (text === null ? null : redact(text));
  const claims = (evidence: Diagnosis['evidence']): Diagnosis['evidence'] =>
    evidence.map((item) => ({ ...item, claim: redact(item.claim), quote: maybe(item.quote) }));
  const side = (one: Side): Side => ({ ...one, says: redact(one.says), evidence: claims(one.evidence) });
  const { hypotheses, chain, disagreement } = diagnosis;
  return {
    ...diagnosis,
    rootCause: redact(diagnosis.rootCause),
    ...(diagnosis.unexplained === undefined ? {} : { unexplained: redact(diagnosis.unexplained) }),
    evidence: claims(diagnosis.evidence),
    ...(hypotheses ? { hypotheses: hypotheses.map((each) => ({ ...each, cause: redact(each.cause) })) } : {}),
    ...(chain ? { chain: chain.map(redact) } : {}),
    ...(disagreement
      ? { disagreement: { runbook: side(disagreement.runbook), model: side(disagreement.model) } }
      : {}),
    ruledOut: diagnosis.ruledOut.map(redact),
    unknown: diagnosis.unknown.map(redact),
    wouldChangeMyMind: maybe(diagnosis.wouldChangeMyMind),
    blastRadius: maybe(diagnosis.blastRadius),
    remedy: maybe(diagnosis.remedy),
  };
}
