import type { Doubt, Support } from '../../agents/ports.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import { type CheckedDiagnosis, checkEvidence } from './evidence.ts';

/** A cause that nobody else finds in what it cites is a report, and no reason to act. */
const UNSUPPORTED_CONFIDENCE = 0.6;
const CONTRADICTED_CONFIDENCE = 0.3;

const reasons: Readonly<Record<Exclude<Support, 'supported'>, string>> = {
  not_supported: 'A second look does not find it in what it cites.',
  contradicted: 'A second look finds the opposite in what it cites.',
};

/** A diagnosis after a second look. It takes away and adds nothing: claims, confidence, a cause that is contradicted. */
export function doubleChecked(
  checked: CheckedDiagnosis,
  doubt: Doubt,
  record: Parameters<typeof checkEvidence>[1],
  measuresOf?: Parameters<typeof checkEvidence>[2],
): CheckedDiagnosis {
  const { diagnosis } = checked;
  if (doubt.kind === 'not_checked')
    return withNote(checked, { cause: null, dropped: 0, reason: doubt.reason });
  const verdicts = diagnosis.evidence.map((_, index) => doubt.claims[index] ?? 'supported');
  const dropped = diagnosis.evidence.flatMap(({ claim }, index) => {
    const verdict = verdicts[index] ?? 'supported';
    return verdict === 'supported' ? [] : [{ claim, reason: reasons[verdict] }];
  });
  const evidence = diagnosis.evidence.filter((_, index) => verdicts[index] === 'supported');
  const share = evidence.length / Math.max(1, diagnosis.evidence.length);
  const again = checkEvidence({ ...diagnosis, evidence }, record, measuresOf);
  const weighed = withoutCause(again.diagnosis, doubt.cause);
  const held: CheckedDiagnosis = {
    ...again,
    diagnosis: {
      ...weighed,
      confidence: Math.min(again.diagnosis.confidence, rounded(diagnosis.confidence * share)),
    },
    dropped: [...dropped, ...noLongerTheCause(diagnosis, weighed)],
    // What was taken for supported before the second look is not asked about again.
    unsupported: [],
  };
  return withNote(
    { ...held, diagnosis: lowered(held.diagnosis, doubt.cause) },
    { cause: doubt.cause, dropped: dropped.length, reason: null },
  );
}

/** A change is the cause only together with the cause. */
function withoutCause(diagnosis: Diagnosis, cause: Support): Diagnosis {
  if (cause === 'supported' || diagnosis.changes === undefined) return diagnosis;
  const changes = diagnosis.changes.map((change) =>
    change.part === 'cause' ? { ...change, part: 'suspect' as const } : change,
  );
  return { ...diagnosis, changes };
}

function noLongerTheCause(before: Diagnosis, after: Diagnosis): CheckedDiagnosis['dropped'] {
  const isCauseIn = ({ changes = [] }: Diagnosis, title: string): boolean =>
    changes.some((change) => change.title === title && change.part === 'cause');
  return (before.changes ?? [])
    .filter(({ title, part }) => part === 'cause' && !isCauseIn(after, title))
    .map(({ title }) => ({ claim: `“${title}” is the cause.`, reason: reasons.not_supported }));
}

function lowered(diagnosis: Diagnosis, cause: Support): Diagnosis {
  if (cause === 'supported' || diagnosis.verdict === 'cannot_tell') return diagnosis;
  const { confidence, rootCause } = diagnosis;
  if (cause === 'not_supported' && diagnosis.verdict === 'cause_found')
    return { ...diagnosis, confidence: Math.min(confidence, UNSUPPORTED_CONFIDENCE) };
  return {
    ...diagnosis,
    verdict: 'cannot_tell',
    rootCause: `${cause === 'contradicted' ? 'Contradicted by what it cites' : 'Not shown by what it cites'}: ${rootCause}`,
    confidence: Math.min(confidence, CONTRADICTED_CONFIDENCE),
    remedy: null,
  };
}

function withNote(
  checked: CheckedDiagnosis,
  doubleCheck: NonNullable<Diagnosis['doubleCheck']>,
): CheckedDiagnosis {
  return { ...checked, diagnosis: { ...checked.diagnosis, doubleCheck } };
}

const rounded = (share: number): number => Math.round(share * 100) / 100;
