import type { Diagnosis } from '../core/diagnosis.ts';
import type { Measure } from '../core/measure.ts';
import { checkEvidence } from './claims/evidence.ts';

/**
 * What a model is told of a diagnosis that cannot be published as it is: its cause says more than what it cites, or none
 * of its claims stands, or it has a change for the cause that is a suspect. Null: it can. Single claims that fall are dropped without asking.
 */
export function objectionsTo(
  diagnosis: Diagnosis,
  record: Parameters<typeof checkEvidence>[1],
  measuresOf?: (tool: string) => readonly Measure[],
): string | null {
  const {
    unsupported,
    notTheCause,
    isUnproven: unproven,
    dropped,
  } = checkEvidence(diagnosis, record, measuresOf);
  if (unsupported.length === 0 && notTheCause.length === 0 && !unproven) return null;
  const problems = [
    ...unsupported.map((problem) => `The cause: ${problem}`),
    ...dropped.map(({ claim, reason }) => `“${claim.slice(0, 200)}”: ${reason}`),
    ...(unproven && dropped.length === 0 ? ['No claim rests on a read of the target in this round.'] : []),
  ];
  return [
    'Your report was held against what the tools returned. What does not stand:',
    ...problems.slice(0, 8).map((problem) => `- ${problem}`),
    'Report again: a cause and claims that say no more than the outputs they cite, each with a whole line of that output as its quote. Read more first where that decides it; “cannot_tell” is a good answer.',
  ].join('\n');
}
