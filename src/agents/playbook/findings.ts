import type { Diagnosis, Evidence, Hypothesis, Prevention, SuggestedAction } from '../../core/diagnosis.ts';
import type { ToolCallId } from '../../core/ids.ts';
import type { VerifyStep } from '../../core/tool-call.ts';

/** Without a quote behind every claim, or with a read that failed, a cause is a report and no reason to act. */
const CAP_WHEN_INCOMPLETE = 0.6;

/** What a run of steps has found so far. */
export interface Findings {
  readonly evidence: Evidence[];
  readonly ruledOut: string[];
  /** The read that ruled each of them out. */
  readonly ruledOutBy: Map<string, ToolCallId>;
  /** What could not be read or tested, each with what would help. */
  readonly unknown: string[];
  /** From runbooks that handed over: what the alert is about, before the cause is named. */
  readonly context: string[];
  /** From runbooks that handed over: what has to hold too before it counts as fixed. */
  readonly alsoVerify: VerifyStep[];
  /** An earlier read than the last one has shown the symptom. */
  wasShown: boolean;
  /** A claim was dropped, or a read or test that was not optional failed. */
  incomplete: boolean;
}

export function newFindings(): Findings {
  return {
    evidence: [],
    ruledOut: [],
    ruledOutBy: new Map(),
    unknown: [],
    context: [],
    alsoVerify: [],
    wasShown: false,
    incomplete: false,
  };
}

export function cause(
  findings: Findings,
  runbookId: string,
  told: {
    readonly cause: string;
    readonly unexplained: string | null;
    readonly category: string;
    readonly confidence: number;
    readonly blastRadius: string | null;
    readonly remedy: string | null;
    readonly wouldChangeMyMind: string | null;
    readonly suggested: readonly SuggestedAction[];
    readonly prevent: readonly Prevention[];
  },
): Diagnosis {
  return {
    origin: 'runbook',
    verdict: 'cause_found',
    rootCause: told.cause,
    ...(told.unexplained === null ? {} : { unexplained: told.unexplained }),
    category: told.category,
    confidence: findings.incomplete ? Math.min(told.confidence, CAP_WHEN_INCOMPLETE) : told.confidence,
    evidence: findings.evidence,
    ...weighed(findings, told.cause),
    ruledOut: findings.ruledOut,
    unknown: findings.unknown,
    wouldChangeMyMind: told.wouldChangeMyMind,
    blastRadius: told.blastRadius,
    remedy: told.remedy,
    runbookId,
    suggested: told.suggested,
    ...(told.prevent.length > 0 ? { prevent: told.prevent } : {}),
  };
}

/** The cause and what was ruled out on the way, each with the read that did; nothing where nothing else was tested. */
function weighed({ evidence, ruledOut, ruledOutBy }: Findings, cause: string): Pick<Diagnosis, 'hypotheses'> {
  const others = ruledOut.flatMap((text): Hypothesis[] => {
    const by = ruledOutBy.get(text);
    return by === undefined ? [] : [{ cause: text, forIds: [], againstIds: [by], end: 'ruled_out' }];
  });
  if (others.length === 0) return {};
  const forIds = [...new Set(evidence.flatMap(({ toolCallIds }) => toolCallIds))];
  return { hypotheses: [{ cause, forIds, againstIds: [], end: 'ruled_in' }, ...others] };
}

export function healthy(findings: Findings, runbookId: string, says: string): Diagnosis {
  return { ...cannotTell(findings, runbookId, says, null), verdict: 'healthy', confidence: 0.8 };
}

export function cannotTell(
  findings: Findings,
  runbookId: string | null,
  says: string,
  next: string | null,
): Diagnosis {
  return {
    origin: 'runbook',
    verdict: 'cannot_tell',
    rootCause: says,
    category: null,
    confidence: 0,
    evidence: findings.evidence,
    ruledOut: findings.ruledOut,
    unknown: findings.unknown,
    wouldChangeMyMind: null,
    blastRadius: null,
    remedy: next,
    runbookId,
  };
}
