import type { Investigator } from '../agents/ports.ts';
import { InvestigatorFailed } from '../agents/ports.ts';
import type { Diagnosis } from '../domain/diagnosis.ts';
import { type CheckedDiagnosis, checkEvidence } from '../investigation/evidence.ts';
import type { RecordedSession } from './recorded-session.ts';

export interface Investigated {
  readonly diagnosis: Diagnosis;
  /** Claims whose evidence did not hold, with why. */
  readonly dropped: readonly string[];
  /** The investigator gave up: why. */
  readonly failed: string | null;
  readonly costUsd: number;
  readonly wallMs: number;
}

/** Triage and diagnosis over one session, held against its record as in the product; nothing is planned. */
export async function investigate(
  session: RecordedSession,
  investigator: Investigator,
): Promise<Investigated> {
  const begun = performance.now();
  let failed: string | null = null;
  let checked: CheckedDiagnosis;
  try {
    checked = checkEvidence(await concluded(session, investigator), session.record());
    if (checked.unproven && investigator.name === 'claude') failed = 'Nothing it read carries what it said.';
  } catch (error) {
    if (!(error instanceof InvestigatorFailed)) throw error;
    failed = error.reason;
    checked = checkEvidence(cannotTell(`The investigation failed: ${error.reason}`), session.record());
  }
  return {
    diagnosis: checked.diagnosis,
    dropped: [...session.dropped, ...checked.dropped.map(({ claim, reason }) => `${claim}: ${reason}`)],
    failed,
    costUsd: session.spent.reduce((sum, one) => sum + one.costUsd, 0),
    wallMs: Math.round(performance.now() - begun),
  };
}

async function concluded(session: RecordedSession, investigator: Investigator): Promise<Diagnosis> {
  const triage = await investigator.triage(session.work('triage'));
  if (triage.ignore) return { ...cannotTell(triage.reason), verdict: 'healthy', confidence: 0.8 };
  return investigator.diagnose(session.work('detective'), triage);
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
