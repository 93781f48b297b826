import { type Diagnosis, MUTATION_CONFIDENCE, type Triage } from '../../domain/diagnosis.ts';
import type { Incident } from '../../domain/incident.ts';
import type { CheckedDiagnosis } from '../evidence.ts';
import { holdToEvidence } from '../hold-to-evidence.ts';
import { move } from '../move.ts';
import type { PhaseRun } from '../phase-run.ts';
import { recallNow, rememberNow } from '../recall.ts';
import { triageOf } from '../triaged.ts';
import { withInvestigator } from '../work.ts';

/** `diagnosing` → `planning` with a cause worth acting on, else `reported`. */
export async function diagnose(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const recall = await recallNow(run, 'triaged', incident.incidentType);
  const checked = await withInvestigator(run, 'detective', recall, async (investigator, work) => {
    const raw = await investigator.diagnose(work, await triageOnRecord(deps, incident));
    return holdToEvidence(run, investigator, raw);
  });
  await run.durably('conclude', async () => {
    const { diagnosis } = checked;
    const act = worthActingOn(checked) && incident.target !== null;
    return move(deps, incident, {
      from: 'diagnosing',
      to: act ? 'planning' : 'reported',
      reason: act ? 'The cause is found.' : reportReason(checked),
      key: `diagnosed:${incident.round}`,
      changes: {
        cause: diagnosis.verdict === 'cause_found' ? diagnosis.rootCause : null,
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
  return diagnosis.verdict === 'cause_found' && diagnosis.confidence >= MUTATION_CONFIDENCE && live;
}

/** What triage concluded, with why: that stands in its event. */
export async function triageOnRecord({ sql }: PhaseRun['deps'], incident: Incident): Promise<Triage> {
  const [row] = await sql`
    SELECT body->'triage'->>'reason' AS reason FROM event
    WHERE incident_id = ${incident.id} AND type = 'triage.concluded' ORDER BY seq DESC LIMIT 1`;
  return triageOf(incident, String(row?.['reason'] ?? ''));
}

function reportReason({ diagnosis, live }: CheckedDiagnosis): string {
  if (diagnosis.verdict === 'healthy') return 'The live system shows nothing wrong now.';
  if (diagnosis.verdict === 'cannot_tell') return 'The cause cannot be told from what could be read.';
  if (!live) return 'No claim stands on what the live system shows, so nothing is proposed.';
  if (diagnosis.confidence < MUTATION_CONFIDENCE)
    return `Sure to ${Math.round(diagnosis.confidence * 100)} %, and a fix needs ${MUTATION_CONFIDENCE * 100} %.`;
  return 'The cause is found; no configured target can be changed.';
}

function nextStepOf(diagnosis: Diagnosis): string {
  if (diagnosis.verdict === 'healthy')
    return 'Nothing to do now; the alert should end by itself. If it does not, add a hint in the thread.';
  const unread = (diagnosis.unread?.length ?? 0) > 0;
  return (
    diagnosis.remedy ??
    (unread
      ? 'What could not be read has a button in the thread: it runs it, or says what to grant.'
      : null) ??
    diagnosis.unknown[0] ??
    'A person should look; add a hint in the thread to have it looked at again.'
  );
}

export function redacted(diagnosis: Diagnosis, redact: (text: string) => string): Diagnosis {
  const maybe = (text: string | null): string | null => (text === null ? null : redact(text));
  return {
    ...diagnosis,
    rootCause: redact(diagnosis.rootCause),
    evidence: diagnosis.evidence.map((item) => ({
      ...item,
      claim: redact(item.claim),
      quote: maybe(item.quote),
    })),
    ruledOut: diagnosis.ruledOut.map(redact),
    unknown: diagnosis.unknown.map(redact),
    wouldChangeMyMind: maybe(diagnosis.wouldChangeMyMind),
    blastRadius: maybe(diagnosis.blastRadius),
    remedy: maybe(diagnosis.remedy),
  };
}
