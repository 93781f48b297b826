import type { Investigator } from '../../src/agents/ports.ts';
import { InvestigatorFailed } from '../../src/agents/ports.ts';
import type { Diagnosis } from '../../src/core/diagnosis.ts';
import { doubleChecked } from '../../src/incidents/claims/double-check.ts';
import { type CheckedDiagnosis, checkEvidence } from '../../src/incidents/claims/evidence.ts';
import { publishable } from '../../src/incidents/claims/verify-evidence.ts';
import { asTriaged, triageOf } from '../../src/incidents/triaged.ts';
import type { RecordedSession } from './recorded-session.ts';

export interface Investigated {
  readonly diagnosis: Diagnosis;
  /** What was said before code held it against the record; `diagnosis` where it said nothing. */
  readonly said: Diagnosis;
  /** Claims whose evidence did not hold, with why. */
  readonly dropped: readonly string[];
  /** The investigator gave up: why. */
  readonly failed: string | null;
  /** What it said before a second look, and why that was not made; null: there was none. */
  readonly doubted: { readonly before: Diagnosis; readonly notChecked: string | null } | null;
  readonly costUsd: number;
  readonly wallMs: number;
}

/**
 * Triage and diagnosis over one session, as in the product: the detective is told what the incident's row and triage's event
 * would tell it, and what it says is held against the record. Two things are left out on purpose: memory, which would know
 * the answer, and the model guard, since recorded data hides nothing. Nothing is planned.
 */
export async function investigate(
  session: RecordedSession,
  investigator: Investigator,
): Promise<Investigated> {
  const begun = performance.now();
  let failed: string | null = null;
  let doubted: Investigated['doubted'] = null;
  let checked: CheckedDiagnosis;
  let raw: Diagnosis | null = null;
  try {
    raw = await concluded(session, investigator);
    const origin = raw.origin ?? (investigator.name === 'claude' ? 'model' : 'runbook');
    checked = publishable(checkEvidence({ ...raw, origin }, session.record()));
    if ((checked.isUnproven || checked.unsupported.length > 0) && investigator.name === 'claude') {
      failed = 'Nothing it read carries what it said.';
      checked = { ...checked, diagnosis: { ...checked.diagnosis, verdict: 'cannot_tell' } };
    } else {
      const doubt = (await investigator.doubt?.(session.work('detective'), checked.diagnosis)) ?? null;
      if (doubt !== null) {
        doubted = {
          before: checked.diagnosis,
          notChecked: doubt.kind === 'not_checked' ? doubt.reason : null,
        };
        checked = doubleChecked(checked, doubt, session.record());
      }
    }
  } catch (error) {
    if (!(error instanceof InvestigatorFailed)) throw error;
    failed = error.reason;
    checked = checkEvidence(cannotTell(`The investigation failed: ${error.reason}`), session.record());
  }
  return {
    diagnosis: checked.diagnosis,
    said: raw ?? session.reported ?? checked.diagnosis,
    dropped: [...session.dropped, ...checked.dropped.map(({ claim, reason }) => `${claim}: ${reason}`)],
    failed,
    doubted,
    costUsd: session.spent.reduce((sum, one) => sum + one.costUsd, 0),
    wallMs: Math.round(performance.now() - begun),
  };
}

async function concluded(session: RecordedSession, investigator: Investigator): Promise<Diagnosis> {
  const triage = await investigator.triage(session.work('triage'));
  if (triage.ignore) return { ...cannotTell(triage.reason), verdict: 'healthy', confidence: 0.8 };
  const work = session.work('detective');
  const incident = asTriaged(work.incident, triage);
  return investigator.diagnose({ ...work, incident }, triageOf(incident, triage.reason));
}

function cannotTell(rootCause: string): Diagnosis {
  return {
    verdict: 'cannot_tell',
    rootCause,
    category: null,
    confidence: 0,
    evidence: [],
    ruledOut: [],
    unknown: [],
    wouldChangeMyMind: null,
    blastRadius: null,
    remedy: null,
    runbookId: null,
  };
}
